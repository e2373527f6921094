# SPDX-License-Identifier: Apache-2.0
"""The list of what a release is made of: SPDX 2.3 as JSON. It tells nothing of the day or the
machine on which it was made."""
import datetime
import hashlib
import uuid

TALLY = "Apache-2.0"
# Of what is linked into Tally's image, and into tally-operator.
LIBFDT = "BSD-2-Clause OR GPL-2.0-or-later"
GLIBC = "LGPL-2.1-or-later"
NONE = "NOASSERTION"


def digest(path):
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def package(name, version, licence, sums=(), file=None):
    """An entry of `packages`. sums: {algorithm: digest}."""
    made = {"SPDXID": "SPDXRef-" + "".join(c if c.isalnum() or c in ".-" else "-" for c in name),
            "name": name, "versionInfo": version, "downloadLocation": NONE, "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": NONE,
            "supplier": NONE}
    if file:
        made["packageFileName"] = file
    if sums:
        made["checksums"] = [{"algorithm": name, "checksumValue": value}
                             for name, value in dict(sums).items()]
    return made


def document(version, commit, seconds, files, libfdt, glibc):
    """The whole. files: {name: path} of the release. libfdt: (version, SHA-256) of Debian's
    package. glibc: the version of Debian's."""
    source = package("tally", version, TALLY, {"SHA1": commit} if commit else ())
    library = package("libfdt", libfdt[0], LIBFDT, {"SHA256": libfdt[1]})
    c_library = package("glibc", glibc, GLIBC)
    made = [package(name, version, TALLY, {"SHA256": digest(path)}, name)
            for name, path in sorted(files.items())]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", one["SPDXID"]) for one in made]
    relations += [(one["SPDXID"], "GENERATED_FROM", source["SPDXID"]) for one in made]
    relations.append((source["SPDXID"], "STATIC_LINK", library["SPDXID"]))
    relations.append((source["SPDXID"], "STATIC_LINK", c_library["SPDXID"]))
    name = f"tally-{version}"
    when = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        # A name that no other release has, and no address.
        "documentNamespace": "urn:uuid:" + str(uuid.uuid5(uuid.NAMESPACE_OID, name + str(
            [one.get("checksums") for one in made]))),
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": [f"Tool: tally-release-{version}"]},
        "packages": [source, library, c_library, *made],
        "relationships": [{"spdxElementId": one, "relationshipType": kind,
                           "relatedSpdxElement": other} for one, kind, other in relations]}
