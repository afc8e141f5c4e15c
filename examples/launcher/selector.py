#!/usr/bin/env python3
"""For accordion launch --model 'exec:./selector.py HOST-SECONDS' (docs/launch.md).
The work divides over the hosts of one cluster. The selector requests the hosts with which the work completes first, according to
the view."""
import json, math, sys

def free(cluster, begin, end):
    """Returns the number of hosts that are free from begin until end."""
    marks = {begin} | {b for b, _, _ in cluster["busy"] if begin < b < end}
    return cluster["hosts"] - max(sum(n for b, e, n in cluster["busy"] if b <= m and (e is None or m < e)) for m in marks)


def best(view, work):
    candidates = []
    for cluster in view["clusters"]:
        ends = {e for _, e, _ in cluster["busy"] if e is not None and e > view["now"]}
        for start in {view["now"]} | ends:
            for hosts in range(1, cluster["hosts"] + 1):
                walltime = math.ceil(work / hosts / cluster["speed"])
                if free(cluster, start, start + walltime) >= hosts:
                    candidates.append((start + walltime, hosts, cluster["name"], walltime))
    return min(candidates, default=None)


for line in sys.stdin:
    view = json.loads(line)
    found = best(view, float(sys.argv[1]))
    answer = {"request": {found[2]: found[1]}, "walltime": found[3]} if found else {"keep": True}
    print(json.dumps({"version": view["version"], **answer}), flush=True)
