/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzzer's entry on files, with any compiler. Usage: NAME FILE... */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

#define LARGEST (1UL << 20)

static void replay(const char *path)
{
	uint8_t *data = malloc(LARGEST);
	FILE *file = fopen(path, "rb");
	uint8_t *exact;
	size_t size;

	if (!file || !data) {
		perror(path);
		exit(1);
	}
	size = fread(data, 1, LARGEST, file);
	fclose(file);
	/* Exactly as large as the input, so that a read beyond the end is detected. */
	exact = malloc(size ? size : 1);
	if (!exact)
		exit(1);
	for (size_t i = 0; i < size; i++)
		exact[i] = data[i];
	free(data);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		/* The file that ends the process is the last one that is printed. */
		fprintf(stderr, "\r%s ", argv[i]);
		replay(argv[i]);
	}
	fprintf(stderr, "\n");
	printf("%s: %d inputs replayed\n", argv[0], argc - 1);
	return argc > 1 ? 0 : 1;
}
