/* An MPI program that runs tasks on all nodes of the job, and grows and shrinks in place as nodes arrive and leave.

   usage: grow TASKS SECONDS HOSTS

   mpiexec starts one process, the master, which reads the hosts file of the job, HOSTS, repeatedly. When a node
   arrives, the master spawns a worker on it (MPI_Comm_spawn). The master has a separate communicator with each worker, so that each
   worker can leave alone (MPI_Comm_disconnect). The hosts file no longer names a node that is about to leave. The worker on such a node gets no
   more tasks. After the result of its last task it disconnects and ends, before the node is released. A task takes SECONDS seconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../hosts/hosts.h"

enum { TASK, RESULT, END, MOST = 1024 };

struct worker {
	char node[256];
	MPI_Comm comm;
	int task;   /* the worker's current task, or -1 */
	int leaves; /* its node is about to leave */
};

static struct worker workers[MOST];
static int count;

/* work runs in a worker: it receives tasks and sends results until it receives END. */
static void work(MPI_Comm master, int seconds)
{
	const char *node = getenv("SLURMD_NODENAME");
	char name[256];
	MPI_Status status;
	int task;

	snprintf(name, sizeof name, "%s", node ? node : "?");
	for (;;) {
		MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, master, &status);
		if (status.MPI_TAG == END)
			break;
		sleep((unsigned)seconds); /* your work */
		MPI_Send(name, sizeof name, MPI_CHAR, 0, RESULT, master);
	}
	MPI_Comm_disconnect(&master);
}

/* spawn starts a worker on a node, which may be new to mpiexec. */
static void spawn(char *program, char *seconds, const char *node)
{
	char *arguments[] = { "worker", seconds, NULL };
	struct worker *w = &workers[count];
	MPI_Info info;

	if (count == MOST) {
		fprintf(stderr, "grow: more than %d nodes\n", MOST);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	memset(w, 0, sizeof *w);
	snprintf(w->node, sizeof w->node, "%s", node);
	w->task = -1;
	MPI_Info_create(&info);
	MPI_Info_set(info, "host", node);
	MPI_Comm_spawn(program, arguments, 1, info, 0, MPI_COMM_SELF, &w->comm, MPI_ERRCODES_IGNORE);
	MPI_Info_free(&info);
	count++;
	printf("%s: a worker has come\n", node);
	fflush(stdout);
}

/* dismiss ends a worker that has no task. */
static void dismiss(struct worker *w)
{
	int none = -1;

	MPI_Send(&none, 1, MPI_INT, 0, END, w->comm);
	MPI_Comm_disconnect(&w->comm);
	printf("%s: its worker has left\n", w->node);
	fflush(stdout);
	*w = workers[--count];
}

/* follow spawns workers on new nodes, and marks the workers whose nodes are about to leave. */
static void follow(char *program, char *seconds, const char *hosts)
{
	struct accordion_hosts h;
	int i, j;

	if (accordion_hosts_read(hosts, &h) != 0)
		return;
	for (i = 0; i < count; i++)
		workers[i].leaves = 1;
	for (j = 0; j < h.nodes; j++) {
		for (i = 0; i < count && strcmp(workers[i].node, h.name[j]) != 0; i++)
			;
		if (i == count)
			spawn(program, seconds, h.name[j]);
		workers[i].leaves = 0;
	}
	accordion_hosts_free(&h);
}

int main(int argc, char **argv)
{
	int tasks = 0, next = 0, done = 0, i, there;
	MPI_Comm parent;
	char node[256];

	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	if (parent != MPI_COMM_NULL) {
		work(parent, atoi(argv[2]));
		MPI_Finalize();
		return 0;
	}
	if (argc != 4 || (tasks = atoi(argv[1])) < 1) {
		fprintf(stderr, "usage: grow TASKS SECONDS HOSTS\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	while (done < tasks || count > 0) {
		if (next < tasks)
			follow(argv[0], argv[2], argv[3]);
		for (i = count - 1; i >= 0; i--) { /* dismiss moves the last worker into the place of the one that leaves */
			struct worker *w = &workers[i];

			if (w->task >= 0) {
				MPI_Iprobe(0, RESULT, w->comm, &there, MPI_STATUS_IGNORE);
				if (!there)
					continue;
				MPI_Recv(node, sizeof node, MPI_CHAR, 0, RESULT, w->comm, MPI_STATUS_IGNORE);
				printf("task %d: done on %s\n", w->task, node);
				fflush(stdout);
				w->task = -1;
				done++;
			}
			if (w->leaves || next == tasks) {
				dismiss(w);
				continue;
			}
			w->task = next++;
			MPI_Send(&w->task, 1, MPI_INT, 0, TASK, w->comm);
		}
		usleep(100000);
	}
	printf("all %d tasks are done\n", tasks);
	MPI_Finalize();
	return 0;
}
