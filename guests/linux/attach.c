/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach ADDRESS NAME: makes /dev/nbd0 of the export NAME of the NBD server at ADDRESS, port 10809.
 * Its parent ends when the device is there. If the connection breaks, requests wait, without end,
 * until there is a new one: the server may be restarted.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/nbd-netlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define PORT         10809
#define RETRY_US     200000
#define CONNECT_US   200000 /* the first try to connect; each further one is so much longer, */
#define CONNECTS     15     /* up to so many times that */
#define TIMEOUT_S    10     /* of an answer; then the connection counts as broken */
#define FOR_EVER_S   (365 * 86400) /* that requests wait for a new one */
#define BLOCK        512
#define OPTION_MAGIC 0x49484156454f5054UL
#define EXPORT_NAME  1
#define FIXED        1 /* flags of the handshake: the newer one, and no padding at its end */
#define NO_ZEROES    2

struct server {
	struct sockaddr_in address;
	const char *name;
	uint64_t size;
	uint16_t flags;
};

struct message {
	struct nlmsghdr head;
	struct genlmsghdr genl;
	uint8_t attributes[256];
};

static int netlink;

static void __attribute__((noreturn)) give_up(const char *what)
{
	fprintf(stderr, "attach: %s: %s\n", what, strerror(errno));
	exit(1);
}

static bool get(int fd, void *to, size_t size)
{
	return recv(fd, to, size, MSG_WAITALL) == (ssize_t)size;
}

/* The fixed newstyle handshake, with the one option that ends it. */
static bool shake_hands(int fd, struct server *server)
{
	struct {
		uint32_t flags;
		uint64_t magic;
		uint32_t option, length;
		char name[64];
	} __attribute__((packed))
	wish = {htobe32(FIXED | NO_ZEROES), htobe64(OPTION_MAGIC), htobe32(EXPORT_NAME), 0, ""};
	struct {
		uint64_t size;
		uint16_t flags;
	} __attribute__((packed)) answer;
	size_t length = strnlen(server->name, sizeof(wish.name));
	uint8_t greeting[18];

	if (!get(fd, greeting, sizeof(greeting)) || memcmp(greeting, "NBDMAGICIHAVEOPT", 16))
		return false;
	wish.length = htobe32((uint32_t)length);
	memcpy(wish.name, server->name, length);
	length += sizeof(wish) - sizeof(wish.name);
	if (send(fd, &wish, length, MSG_NOSIGNAL) != (ssize_t)length ||
	    !get(fd, &answer, sizeof(answer)))
		return false;
	server->size = be64toh(answer.size);
	server->flags = be16toh(answer.flags);
	return true;
}

static void wait_at_most(int fd, int option, time_t us)
{
	struct timeval time = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};

	setsockopt(fd, SOL_SOCKET, option, &time, sizeof(time));
}

/* Tries until there is a connection. A SYN is lost while the server's port has no driver, and TCP
 * sends it again after a second only, so the first tries are shorter. */
static int connection(struct server *server)
{
	for (unsigned int try = 1;; usleep(RETRY_US), try++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, again = 1;

		if (fd < 0)
			give_up("socket");
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &again, sizeof(again));
		wait_at_most(fd, SO_SNDTIMEO, CONNECT_US * (try < CONNECTS ? try : CONNECTS));
		wait_at_most(fd, SO_RCVTIMEO, TIMEOUT_S * 1000000);
		if (!connect(fd, (struct sockaddr *)&server->address, sizeof(server->address)) &&
		    shake_hands(fd, server)) {
			wait_at_most(fd, SO_SNDTIMEO, 0);
			wait_at_most(fd, SO_RCVTIMEO, 0);
			return fd;
		}
		close(fd);
	}
}

static void begin(struct message *m, uint16_t type, uint8_t command)
{
	memset(m, 0, sizeof(*m));
	m->head.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	m->head.nlmsg_type = type;
	m->head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	m->genl.cmd = command;
	m->genl.version = 1;
}

/* Adds an attribute; those of fixed sizes here fit all. */
static void add(struct message *m, uint16_t type, const void *data, uint16_t size)
{
	struct nlattr *to = (struct nlattr *)((uint8_t *)m + m->head.nlmsg_len);

	to->nla_type = type;
	to->nla_len = (uint16_t)(NLA_HDRLEN + size);
	memcpy((uint8_t *)to + NLA_HDRLEN, data, size);
	m->head.nlmsg_len += (uint32_t)NLA_ALIGN(to->nla_len);
}

static void add_u64(struct message *m, uint16_t type, uint64_t value)
{
	add(m, type, &value, sizeof(value));
}

/* The only device, and the only socket, in a list of one. */
static void add_socket(struct message *m, int fd)
{
	struct {
		struct nlattr item, fd;
		uint32_t value;
	} list = {{sizeof(list), NBD_SOCK_ITEM | NLA_F_NESTED},
	          {NLA_HDRLEN + sizeof(uint32_t), NBD_SOCK_FD},
	          (uint32_t)fd};
	uint32_t index = 0;

	add(m, NBD_ATTR_INDEX, &index, sizeof(index));
	add(m, NBD_ATTR_SOCKETS | NLA_F_NESTED, &list, sizeof(list));
}

/* Sends a request. Returns 0, or the negative error of the kernel's. answer: what came before its
 * acknowledgement, if anything did. */
static int ask(const struct message *m, void *answer, size_t size)
{
	uint8_t buffer[4096] __attribute__((aligned(8)));

	if (send(netlink, m, m->head.nlmsg_len, 0) < 0)
		give_up("netlink");
	for (;;) {
		ssize_t length = recv(netlink, buffer, sizeof(buffer), 0);
		const struct nlmsghdr *head = (const struct nlmsghdr *)buffer;

		if (length < 0)
			give_up("netlink");
		if (length >= (ssize_t)NLMSG_LENGTH(sizeof(int)) && head->nlmsg_type == NLMSG_ERROR)
			return *(const int *)NLMSG_DATA(head);
		if (answer)
			memcpy(answer, buffer, (size_t)length < size ? (size_t)length : size);
	}
}

/* The kernel's number of the family nbd, or 0. */
static uint16_t family(void)
{
	struct message m, answer;

	memset(&answer, 0, sizeof(answer));
	begin(&m, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	add(&m, CTRL_ATTR_FAMILY_NAME, NBD_GENL_FAMILY_NAME, sizeof(NBD_GENL_FAMILY_NAME));
	if (ask(&m, &answer, sizeof(answer)))
		return 0;
	for (size_t at = 0; at + NLA_HDRLEN + 2 <= sizeof(answer.attributes);) {
		const struct nlattr *one = (const struct nlattr *)(answer.attributes + at);
		uint16_t id;

		memcpy(&id, answer.attributes + at + NLA_HDRLEN, sizeof(id));
		if (one->nla_type == CTRL_ATTR_FAMILY_ID)
			return id;
		if (one->nla_len < NLA_HDRLEN)
			return 0;
		at += (size_t)NLA_ALIGN(one->nla_len);
	}
	return 0;
}

static void make_device(uint16_t nbd, const struct server *server, int fd)
{
	struct message m;

	begin(&m, nbd, NBD_CMD_CONNECT);
	add_socket(&m, fd);
	add_u64(&m, NBD_ATTR_SIZE_BYTES, server->size);
	add_u64(&m, NBD_ATTR_BLOCK_SIZE_BYTES, BLOCK);
	add_u64(&m, NBD_ATTR_SERVER_FLAGS, server->flags);
	add_u64(&m, NBD_ATTR_TIMEOUT, TIMEOUT_S);
	add_u64(&m, NBD_ATTR_DEAD_CONN_TIMEOUT, FOR_EVER_S);
	errno = -ask(&m, NULL, 0);
	if (errno)
		give_up("/dev/nbd0");
}

/* Waits until the connection is broken, and gives the device a new one. */
static int renew(uint16_t nbd, struct server *server, int fd)
{
	struct pollfd broken = {.fd = fd, .events = POLLRDHUP};
	struct message m;

	while (poll(&broken, 1, -1) < 0)
		;
	close(fd);
	fd = connection(server);
	begin(&m, nbd, NBD_CMD_RECONFIGURE);
	add_socket(&m, fd);
	/* The kernel may not have noticed yet that the last one is broken. */
	while (ask(&m, NULL, 0))
		usleep(RETRY_US);
	return fd;
}

int main(int argc, char **argv)
{
	struct server server = {.address = {.sin_family = AF_INET, .sin_port = htons(PORT)}};
	uint16_t nbd;
	int fd;

	if (argc != 3 || inet_pton(AF_INET, argv[1], &server.address.sin_addr) != 1) {
		fprintf(stderr, "attach: ADDRESS NAME\n");
		return 2;
	}
	server.name = argv[2];
	netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (netlink < 0)
		give_up("netlink");
	nbd = family();
	if (!nbd)
		give_up("the kernel has no nbd");
	fd = connection(&server);
	make_device(nbd, &server, fd);
	/* On with it behind the back of the first process. */
	if (daemon(0, 0))
		give_up("daemon");
	/* systemd leaves a process with such a name alive until the machine is off. */
	argv[0][0] = '@';
	for (;;)
		fd = renew(nbd, &server, fd);
}
