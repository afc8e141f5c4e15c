/* Each rank prints where it is: rank, ranks, host, cpuset, and the processors on which it may run. It sends no messages: MPICH 4.0.2, Debian
   12's, often does not come to an end (MPI_Finalize) when its ranks have sent some over TCP, whoever started it. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char host[256] = "", cpuset[4096] = "", line[16384];
	int rank, ranks, i, n;
	cpu_set_t may;
	FILE *f;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	gethostname(host, sizeof host - 1);
	if ((f = fopen("/proc/self/cpuset", "r"))) {
		if (fgets(cpuset, sizeof cpuset, f))
			cpuset[strcspn(cpuset, "\n")] = '\0';
		fclose(f);
	}
	sched_getaffinity(0, sizeof may, &may);
	n = snprintf(line, sizeof line, "rank %d of %d on %s in %s:", rank, ranks, host, cpuset);
	for (i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &may))
			n += snprintf(line + n, sizeof line - n, " %d", i);
	line[n++] = '\n';
	/* In one piece, because MPICH does not keep lines together, and mpiexec would mix the lines of the ranks. */
	i = write(STDOUT_FILENO, line, n) != n;
	MPI_Finalize();
	return i;
}
