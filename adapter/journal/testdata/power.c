/* This library simulates a disk that loses unsynced data when the power fails. It is loaded before the C library (LD_PRELOAD). Each time a
 * file is synced, it copies the file's content to FILE.synced. After a simulated loss of power, the test replaces each file by that copy. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int keep(int fd)
{
	char link[64], path[4000], part[4100], whole[4100], buffer[65536];
	struct stat file;
	ssize_t n;
	off_t at = 0;
	int to;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if ((n = readlink(link, path, sizeof path - 1)) < 0)
		return -1;
	path[n] = 0;
	if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode))
		return 0;
	snprintf(part, sizeof part, "%s.syncing", path);
	snprintf(whole, sizeof whole, "%s.synced", path);
	if ((to = open(part, O_CREAT | O_TRUNC | O_WRONLY, 0600)) < 0)
		return -1;
	for (; (n = pread(fd, buffer, sizeof buffer, at)) > 0; at += n)
		if (write(to, buffer, n) != n)
			return -1;
	close(to);
	return n < 0 ? -1 : rename(part, whole);
}

int fsync(int fd) { return keep(fd); }
int fdatasync(int fd) { return keep(fd); }
