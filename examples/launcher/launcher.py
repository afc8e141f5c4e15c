#!/usr/bin/env python3
"""A launcher for Accordion, written from docs/protocol.md. It needs only Python 3 and its standard library.

    launcher.py --hosts a=64 --hosts b=32 --walltime 3600 --submit a='sbatch --parsable -H --comment=launch=$APP job.sh' ...

This requests those hosts at the first view, does not change the request, and prints all messages. Without --submit, for
embedded clusters, it sends done --run seconds after the start. The exit status is 0 after success, 1 if the application was
refused or ended, and 130 if it was interrupted and withdrawn.
"""
import argparse, io, json, os, re, select, socket, struct, subprocess, sys, time


def pack(v):
    """Returns v in msgpack."""
    if isinstance(v, int):
        return b"\xd3" + struct.pack(">q", v)
    if isinstance(v, str):
        data = v.encode()
        return b"\xdb" + struct.pack(">I", len(data)) + data
    if isinstance(v, (list, tuple)):
        return b"\xdd" + struct.pack(">I", len(v)) + b"".join(map(pack, v))
    return b"\xdf" + struct.pack(">I", len(v)) + b"".join(pack(k) + pack(x) for k, x in v.items())


PLAIN = {0xC0: None, 0xC2: False, 0xC3: True}
NUMBERS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
LENGTHS = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I", 0xC7: ">B", 0xC8: ">H", 0xC9: ">I", 0xD9: ">B", 0xDA: ">H", 0xDB: ">I",
           0xDC: ">H", 0xDD: ">I", 0xDE: ">H", 0xDF: ">I"}


def unpack(f):
    """Reads the next msgpack value of a file."""
    def number(form):
        return struct.unpack(form, f.read(struct.calcsize(form)))[0]

    c = f.read(1)[0]
    if c < 0x80 or c >= 0xE0:
        return c if c < 0x80 else c - 256
    if c in PLAIN:
        return PLAIN[c]
    if c in NUMBERS:
        return number(NUMBERS[c])
    n = number(LENGTHS[c]) if c in LENGTHS else c & (0x1F if 0xA0 <= c < 0xC0 else 0x0F)
    if c < 0x90 or c in (0xDE, 0xDF):
        return {unpack(f): unpack(f) for _ in range(n)}
    if c < 0xA0 or c in (0xDC, 0xDD):
        return [unpack(f) for _ in range(n)]
    if 0xC7 <= c <= 0xC9 or 0xD4 <= c <= 0xD8: # an extension type; this launcher knows none
        return f.read(n + 1 if c in LENGTHS else (1 << c - 0xD4) + 1) and None
    data = f.read(n)
    return data.decode() if c < 0xC0 or c >= 0xD9 else data


class Session:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.sent, self.unread = 0, b""

    def send(self, kind, **fields):
        self.sent += 1
        body = pack({"t": kind, "s": self.sent, **fields})
        self.socket.settimeout(5)
        self.socket.sendall(struct.pack(">I", len(body)) + body)

    def next(self, until):
        """Returns the next message, or None if none arrives before the time `until`. It answers pings, and sends one after 15 s without
        a frame."""
        heard = pinged = time.monotonic()
        while True:
            size = 4 + struct.unpack(">I", self.unread[:4].rjust(4, b"\xff"))[0]
            if len(self.unread) >= size:
                message, self.unread = unpack(io.BytesIO(self.unread[4:size])), self.unread[size:]
                if "t" not in message:
                    sys.exit("the sidecar takes no launchers: " + message.get("why", "it says nothing more"))
                if message["t"] == "ping":
                    self.send("pong")
                elif message["t"] != "pong":
                    return message
                continue
            now = time.monotonic()
            if now >= until:
                return None
            if now - heard >= 45:
                sys.exit("the sidecar says nothing any more")
            if now - pinged >= 15:
                self.send("ping")
                pinged = now
            if select.select([self.socket], [], [], min(until, pinged + 15) - now)[0]:
                data = self.socket.recv(65536)
                if not data:
                    sys.exit("the sidecar has closed the connection")
                self.unread += data
                heard = pinged = time.monotonic()


def submit(name, commands):
    out = subprocess.check_output(["sh", "-c", commands[name]], text=True)
    return [name, int(re.findall(r"\d+", out)[-1])]


def main(o, session):
    wanted = {name: int(n) for name, n in (h.split("=") for h in o.hosts)}
    commands = dict(c.split("=", 1) for c in o.submit)
    asked, numbers, end, over, status, forever = False, {}, None, None, 0, time.monotonic() + 1e9
    session.send("hello", v=2, speaks=[2], name=o.name)
    while True:
        try:
            m = session.next(end or forever)
        except KeyboardInterrupt:
            m, status = None, 130
        if m is None: # the work has ended, or the user wants to quit
            session.send("done", code=status)
            end, over = None, session.sent
            continue
        print(json.dumps({k: v.hex() if isinstance(v, bytes) else v for k, v in m.items()}), flush=True)
        kind = m["t"]
        if kind == "welcome":
            os.environ["APP"] = str(m["app"])
            jobs = [submit(name, commands) for name in commands]
            session.send("subscribe", filter={"clusters": list(wanted)}, most=o.walltime, jobs=jobs)
        elif kind == "clusters":
            numbers = {c["name"]: c["c"] for c in m["all"]}
        elif kind == "change" and not asked:
            asked = True
            hosts = [[numbers[name], n] for name, n in wanted.items()]
            session.send("request", view=m["view"], tag=1, hosts=hosts, walltime=o.walltime)
        elif kind == "change":
            session.send("ack", view=m["view"])
        elif kind == "start" and not commands:
            end = time.monotonic() + o.run
        elif kind == "lost":
            session.send("parts", jobs=[submit(name, commands) for name, c in numbers.items() if c == m["c"]])
        elif kind == "okay" and m["to"] == over:
            return status
        elif kind in ("refuse", "end"):
            return 1


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--socket", default=os.environ.get("ACCORDION_SOCKET", "/run/accordion/accordion.sock"))
    p.add_argument("--name", default="launcher.py")
    p.add_argument("--hosts", action="append", required=True, metavar="NAME=N")
    p.add_argument("--walltime", type=int, required=True, metavar="S")
    p.add_argument("--submit", action="append", default=[], metavar="NAME=COMMAND")
    p.add_argument("--run", type=float, default=0, metavar="S")
    options = p.parse_args()
    sys.exit(main(options, Session(options.socket)))
