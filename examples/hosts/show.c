/* Prints a hosts file as `generation step steps from until node,node,…`:  cc -o show show.c hosts.c && ./show [FILE] */
#include "hosts.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	struct accordion_hosts h;
	char path[4096];
	int i, result;

	if (argc < 2 && accordion_hosts_path(path, sizeof path) != 0) {
		fprintf(stderr, "show: not inside a job: name a hosts file\n");
		return 2;
	}
	if ((result = accordion_hosts_read(argc < 2 ? path : argv[1], &h)) != 0) {
		fprintf(stderr, "show: %s: %s\n", argc < 2 ? path : argv[1], result == -1 ? "cannot be read" : "is not a hosts file");
		return 1;
	}
	printf("%d %d %d %lld %lld ", h.generation, h.step, h.steps, h.from, h.until);
	for (i = 0; i < h.nodes; i++)
		printf("%s%s", i ? "," : "", h.name[i]);
	printf("\n");
	accordion_hosts_free(&h);
	return 0;
}
