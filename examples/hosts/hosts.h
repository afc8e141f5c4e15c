/* The hosts file of a job that never calls `accordion step`: read it with accordion_hosts_read, as often as you like.
   Copy hosts.h and hosts.c into your program; they need nothing but C99 and POSIX. */
#ifndef ACCORDION_HOSTS_H
#define ACCORDION_HOSTS_H

struct accordion_hosts {
	int generation;   /* number of resizes; a different number means different nodes */
	int step, steps;  /* the step that the nodes are for, counted from 1, and the number of steps */
	int nodes;        /* number of nodes, which is also the number of names */
	long long from;   /* Unix second at which the step begins; before that, the nodes are those that will stay */
	long long until;  /* planned Unix second of the step's end */
	char **name;      /* the nodes; the one that runs the batch script is the first */
};

/* accordion_hosts_path writes the path of this job's hosts file to path. It returns 0, or -1 outside a job. */
int accordion_hosts_path(char *path, unsigned long size);

/* accordion_hosts_read reads a hosts file into h and returns 0; accordion_hosts_free then frees the names in h. It returns
   -1 if the file cannot be opened or does not exist yet (see errno), and -2 if it is not a hosts file. h is then empty. */
int accordion_hosts_read(const char *path, struct accordion_hosts *h);

void accordion_hosts_free(struct accordion_hosts *h);

#endif
