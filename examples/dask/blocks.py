"""Makes blocks of numbers on one node, works on them on three nodes, and sums them up on one node again. usage: blocks.py BLOCKS"""

import sys
import time

import distributed

import accordion_dask


def make(number: int) -> list:
    return list(range(number * 1000, (number + 1) * 1000))


def square(number: int, block: list) -> list:
    time.sleep(1) # replace with your work
    sys.stdout.write("block %d: squared on %s\n" % (number, distributed.get_worker().name))
    sys.stdout.flush()
    return [x * x for x in block]


def main(count: int) -> None:
    with accordion_dask.Cluster() as cluster, distributed.Client(cluster.address) as client:
        blocks = client.map(make, range(count), pure=False)
        distributed.wait(blocks)

        cluster.step(3)
        # Results stay on the workers that computed them, many on nodes that are about to leave.
        squares = client.map(square, range(count), blocks, pure=False)
        distributed.wait(squares)
        holds = client.has_what()
        for address, worker in client.scheduler_info()["workers"].items():
            print("%s holds %d results" % (worker["name"], sum(key.startswith("square") for key in holds[address])), flush=True)

        cluster.step(1)
        print("the sum is %d" % client.submit(lambda parts: sum(map(sum, parts)), squares).result(), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
