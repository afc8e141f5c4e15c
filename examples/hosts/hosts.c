#include "hosts.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 1024, MOST = 1000000 };

/* own reports whether a path is a folder (and not a link) that belongs to this user and that no other user can write to. */
static int own(const char *folder)
{
	struct stat s;

	return lstat(folder, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == getuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* The hosts file is in /tmp/accordion-UID. If another user made that folder first, the file is in a folder with a longer name. */
int accordion_hosts_path(char *path, unsigned long size)
{
	const char *job = getenv("SLURM_JOB_ID"), *cluster = getenv("SLURM_CLUSTER_NAME");
	char usual[64], others[80];
	const char *folder = usual;
	glob_t found;
	size_t i;
	int n = -1;

	snprintf(usual, sizeof usual, "/tmp/accordion-%ld", (long)getuid());
	snprintf(others, sizeof others, "%s.*", usual);
	memset(&found, 0, sizeof found);
	if (!own(usual) && glob(others, GLOB_NOSORT, NULL, &found) == 0)
		for (i = 0; i < found.gl_pathc && folder == usual; i++)
			if (own(found.gl_pathv[i]))
				folder = found.gl_pathv[i];
	if (job && cluster)
		n = snprintf(path, size, "%s/%s-%s.hosts", folder, cluster, job);
	globfree(&found);
	return n > 0 && (unsigned long)n < size ? 0 : -1;
}

/* header finds key=number in the first line. It skips other words, which later versions may have. */
static int header(const char *line, const char *key, long long *value)
{
	const char *at = line;
	size_t length = strlen(key);
	char *end;

	while ((at = strchr(at, ' ')) != NULL) {
		at++;
		if (strncmp(at, key, length) == 0 && at[length] == '=') {
			*value = strtoll(at + length + 1, &end, 10);
			return end != at + length + 1 && (*end == ' ' || *end == '\n') ? 0 : -1;
		}
	}
	return -1;
}

static int parse(FILE *f, struct accordion_hosts *h)
{
	char line[LINE];
	long long generation, step, steps, nodes;

	if (!fgets(line, sizeof line, f) || line[0] != '#')
		return -2;
	if (header(line, "generation", &generation) || header(line, "step", &step) || header(line, "steps", &steps) ||
	    header(line, "nodes", &nodes) || header(line, "from", &h->from) || header(line, "until", &h->until))
		return -2;
	if (nodes < 1 || nodes > MOST || (h->name = calloc((size_t)nodes, sizeof *h->name)) == NULL)
		return -2;
	h->generation = (int)generation;
	h->step = (int)step;
	h->steps = (int)steps;
	while (fgets(line, sizeof line, f)) {
		if (line[0] == '#') { /* a comment line of any length */
			while (!strchr(line, '\n') && fgets(line, sizeof line, f))
				;
			continue;
		}
		line[strcspn(line, "\n")] = 0;
		if (line[0] == 0)
			continue;
		if (h->nodes == nodes || (h->name[h->nodes] = malloc(strlen(line) + 1)) == NULL)
			return -2;
		strcpy(h->name[h->nodes++], line);
	}
	return h->nodes == nodes ? 0 : -2;
}

int accordion_hosts_read(const char *path, struct accordion_hosts *h)
{
	FILE *f;
	int result;

	memset(h, 0, sizeof *h);
	if ((f = fopen(path, "r")) == NULL)
		return -1;
	result = parse(f, h);
	fclose(f);
	if (result != 0)
		accordion_hosts_free(h);
	return result;
}

void accordion_hosts_free(struct accordion_hosts *h)
{
	while (h->name && h->nodes > 0)
		free(h->name[--h->nodes]);
	free(h->name);
	memset(h, 0, sizeof *h);
}
