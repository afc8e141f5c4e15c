"""Reads the hosts file of a job that never calls `accordion step`. It needs only Python 3.

    import hosts
    now = hosts.read(hosts.path())
    while working():
        later = hosts.read(hosts.path())
        if later.generation != now.generation:
            now = later               # other nodes: now.names
"""

import glob
import os
import stat
import sys
from typing import List, NamedTuple


class Hosts(NamedTuple):
    generation: int  # number of resizes; a different number means different nodes
    step: int  # the step that the nodes are for, counted from 1
    steps: int  # number of steps
    begins: int  # Unix time at which the step begins; before that, the nodes are those that will stay
    until: int  # planned end of the step, in Unix time
    names: List[str]  # the nodes; the one that runs the batch script is the first


def path() -> str:
    """Returns the path of this job's hosts file. It raises KeyError outside a job.

    The file is in /tmp/accordion-UID. If another user made that folder first, the file is in a folder with a longer name."""
    usual = "/tmp/accordion-%d" % os.getuid()
    name = "%s-%s.hosts" % (os.environ["SLURM_CLUSTER_NAME"], os.environ["SLURM_JOB_ID"])
    for folder in [usual] + glob.glob(usual + ".*"):
        if _private(folder):
            return os.path.join(folder, name)
    return os.path.join(usual, name)


def _private(folder: str) -> bool:
    """Reports whether a path is a folder (and not a link) that belongs to this user and that no other user can write to."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


def read(name: str) -> Hosts:
    """Reads a hosts file. It raises OSError if the file does not exist (yet), and ValueError if it is not a hosts file."""
    with open(name, encoding="utf-8") as file:
        first, *lines = file.read().split("\n")
    try:
        if not first.startswith("#"):
            raise ValueError("no first line that begins with #")
        # Later versions may have words that this program does not know.
        word = dict(w.split("=", 1) for w in first[1:].split() if "=" in w)
        names = [line for line in lines if line and not line.startswith("#")]
        if len(names) != int(word["nodes"]) or not names:
            raise ValueError("%d names, not %s" % (len(names), word["nodes"]))
        return Hosts(*(int(word[k]) for k in ("generation", "step", "steps", "from", "until")), names)
    except (KeyError, ValueError) as error:
        raise ValueError("%s is not a hosts file: %s" % (name, error)) from error


if __name__ == "__main__":
    # Prints a hosts file as `generation step steps from until node,node,…`: python3 hosts.py [FILE]
    try:
        h = read(sys.argv[1] if len(sys.argv) > 1 else path())
    except (OSError, KeyError, ValueError) as error:
        sys.exit("hosts.py: %s" % error)
    print(*h[:-1], ",".join(h.names))
