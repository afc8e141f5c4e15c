"""A Dask cluster that follows the nodes of an evolving job. Each node has one worker, which `accordion agent` starts, or under OAR
oarsh.

    with accordion_dask.Cluster() as cluster, distributed.Client(cluster.address) as client:
        data = client.map(load, names)
        cluster.step(4)     # the next step of the job's profile has 4 nodes; when this returns, there are 4 workers
        results = client.map(solve, data)
        cluster.step(1)     # workers on leaving nodes pass their results on and end; then the nodes leave

Copy this file into your program. It needs only Python 3 and distributed. The scheduler runs in this process, on the node of the job's
script, which stays in every step.
"""

import os
import subprocess
import sys

import distributed


def nodes() -> list:
    """Returns the nodes of the job. The node of the job's script is the first."""
    if "ACCORDION_HOSTFILE" in os.environ:
        with open(os.environ["ACCORDION_HOSTFILE"], encoding="utf-8") as file:
            names = file.read().split()
    elif "OAR_NODEFILE" in os.environ:
        with open(os.environ["OAR_NODEFILE"], encoding="utf-8") as file:
            names = list(dict.fromkeys(file.read().split()))
    else: # before the first step
        names = subprocess.run(["scontrol", "show", "hostnames"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    host = os.environ.get("SLURMD_NODENAME", os.uname().nodename).split(".")[0]
    own = next((name for name in names if name.split(".")[0] == host), names[0]) # OAR's file is sorted by name
    return [own] + [name for name in names if name != own]


class Cluster:
    """A scheduler, and a worker on each node of the job. Only one thread may call step."""

    def __init__(self, patience: float = 120):
        """patience is how many seconds workers may take to start, and to end after they were retired."""
        self._patience = patience
        self._workers = {} # worker processes by node
        self._scheduler = distributed.LocalCluster(n_workers=0, host="tcp://0.0.0.0", dashboard_address=None)
        self.address = self._scheduler.scheduler_address
        self._client = distributed.Client(self.address)
        self._follow()

    def step(self, size: int) -> None:
        """Ends this step of the job and begins the next one. size is the number of nodes of the next step in the job's profile. If
        accordion refuses, step raises RuntimeError, and the job's output has the reason."""
        held = nodes()
        arguments = []
        if size < len(held):
            self._retire(held[size:])
            arguments = ["--keep", ",".join(held[:size])]
        # `accordion step` prints commands for a shell. Their effect is needed in this process and in all processes
        # that it starts.
        script = 'eval "$(accordion step "$@")"; status=$?; env -0; exit $status'
        said = subprocess.run(["sh", "-c", script, "sh", *arguments], stdout=subprocess.PIPE)
        if said.returncode != 0:
            raise RuntimeError("accordion step ended with status %d" % said.returncode)
        told = dict(word.split("=", 1) for word in os.fsdecode(said.stdout).split("\0") if "=" in word)
        for name in set(os.environ) - set(told):
            del os.environ[name]
        os.environ.update(told)
        self._follow()

    def _follow(self) -> None:
        """Starts workers on nodes that have none, and waits for them."""
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", self.address, "--no-nanny", "--no-dashboard"]
        for node in nodes():
            if node not in self._workers:
                # Other users may write to /tmp, so each worker makes its own folder there.
                line = 'folder=$(mktemp -d) || exit; trap \'rm -rf "$folder"\' EXIT; '
                line += " ".join([*worker, "--name", node, "--local-directory", '"$folder"'])
                reach = ["oarsh"] if "OAR_NODEFILE" in os.environ else ["accordion", "agent"]
                self._workers[node] = subprocess.Popen([*reach, node, line], stdin=subprocess.DEVNULL)
        self._client.wait_for_workers(len(self._workers), timeout=self._patience)

    def _retire(self, names: list) -> None:
        """Makes the workers on these nodes pass their results on to other workers, and end."""
        known = self._client.scheduler_info()["workers"]
        self._client.retire_workers([address for address, worker in known.items() if worker["name"] in names], close_workers=True)
        for name in names:
            self._workers.pop(name).wait(self._patience)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._retire(list(self._workers))
        finally:
            for process in self._workers.values(): # workers that did not end by themselves
                process.terminate()
            self._client.close()
            self._scheduler.close()
