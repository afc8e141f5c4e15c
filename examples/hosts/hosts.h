/* The hosts file of a job that never calls `accordion step`: read it with accordion_hosts_read, as often as you like.
   Copy hosts.h and hosts.c into your program; they need nothing but C99 and POSIX. */
#ifndef ACCORDION_HOSTS_H
#define ACCORDION_HOSTS_H

struct accordion_hosts {
	int generation;   /* number of resizes: another one than last time means other nodes */
	int step, steps;  /* the step that the nodes are for, from 1, and how many there are */
	int nodes;        /* how many names follow */
	long long from;   /* Unix second at which the step begins; before it, these are the nodes that will stay */
	long long until;  /* Unix second at which it ends, as planned */
	char **name;      /* the nodes; the one that runs the batch script is the first */
};

/* accordion_hosts_path writes the path of this job's hosts file to path; 0, or -1 outside a job. */
int accordion_hosts_path(char *path, unsigned long size);

/* accordion_hosts_read reads a hosts file. 0: h is filled in, and accordion_hosts_free gives it back.
   -1: there is no such file (yet), errno says why. -2: it is not a hosts file. h is then empty. */
int accordion_hosts_read(const char *path, struct accordion_hosts *h);

void accordion_hosts_free(struct accordion_hosts *h);

#endif
