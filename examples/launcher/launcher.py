#!/usr/bin/env python3
"""A launcher of Accordion, written from docs/protocol.md: Python 3 and its standard library only.

    launcher.py --hosts a=64 --hosts b=32 --walltime 3600 --submit a='sbatch --parsable -H --comment=launch=$APP job.sh' ...

asks for those hosts at the first view, keeps to them, and prints what comes. Without --submit (embedded clusters) it says done
--run seconds after the start. Exit status: 0; 1 refused or ended; 130 interrupted (the application is withdrawn).
"""
import argparse, json, os, re, select, socket, struct, subprocess, sys, time


def pack(v):
    """v in msgpack."""
    if v is None or isinstance(v, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[v]
    if isinstance(v, int):
        return bytes([v]) if 0 <= v < 128 else b"\xd3" + struct.pack(">q", v)
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


def unpack(b, at=0):
    """The msgpack value at a place in b, and the place after it."""
    def number(form, at):
        return struct.unpack_from(form, b, at)[0], at + struct.calcsize(form)

    c, at = b[at], at + 1
    if c < 0x80 or c >= 0xE0:
        return (c if c < 0x80 else c - 256), at
    if c in PLAIN:
        return PLAIN[c], at
    if c in NUMBERS:
        return number(NUMBERS[c], at)
    if 0xD4 <= c <= 0xD8:  # an extension: nobody here knows any
        return None, at + 1 + (1 << (c - 0xD4))
    if c < 0xC0:
        n = c & (0x1F if c >= 0xA0 else 0x0F)
    else:
        n, at = number(LENGTHS[c], at)
    if c < 0x90 or c in (0xDE, 0xDF):
        out = {}
        for _ in range(n):
            key, at = unpack(b, at)
            out[key], at = unpack(b, at)
        return out, at
    if c < 0xA0 or c in (0xDC, 0xDD):
        out = []
        for _ in range(n):
            v, at = unpack(b, at)
            out.append(v)
        return out, at
    if 0xC7 <= c <= 0xC9:
        return None, at + 1 + n
    data = b[at:at + n]
    return (data.decode() if c < 0xC0 or c >= 0xD9 else data), at + n


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
        """The next message; None at the moment until. Pings are answered, and sent after 15 s without a frame."""
        heard = pinged = time.monotonic()
        while True:
            length = struct.unpack(">I", self.unread[:4])[0] if len(self.unread) >= 4 else None
            if length is not None and len(self.unread) >= 4 + length:
                body, self.unread = self.unread[4:4 + length], self.unread[4 + length:]
                message = unpack(body)[0]
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


def main(o, session):
    wanted = {name: int(n) for name, n in (h.split("=") for h in o.hosts)}
    commands = dict(c.split("=", 1) for c in o.submit)
    tag, numbers, end, status, forever = -1, {}, None, 0, time.monotonic() + 1e9
    session.send("hello", v=2, speaks=[2], name=o.name)
    while True:
        try:
            m = session.next(end or forever)
        except KeyboardInterrupt:
            m, status = None, 130
        if m is None:  # the work is over, or the user wants to leave
            session.send("done", code=status)
            end, over = None, session.sent
            continue
        print(json.dumps({k: v.hex() if isinstance(v, bytes) else v for k, v in m.items()}), flush=True)
        kind = m["t"]
        if kind == "welcome":
            app = m["app"]

            def submit(name):
                out = subprocess.check_output(["sh", "-c", commands[name]], env={**os.environ, "APP": str(app)}, text=True)
                return [name, int(re.findall(r"\d+", out)[-1])]

            session.send("subscribe", filter={"clusters": list(wanted)}, most=o.walltime, jobs=[submit(n) for n in commands])
        elif kind == "clusters":
            numbers = {c["name"]: c["c"] for c in m["all"]}
        elif kind == "change" and tag < 0:
            tag = 1
            hosts = [[numbers[name], n] for name, n in wanted.items()]
            session.send("request", view=m["view"], tag=tag, hosts=hosts, walltime=o.walltime)
        elif kind == "change":
            session.send("ack", view=m["view"])
        elif kind == "start" and not commands:
            end = time.monotonic() + o.run
        elif kind == "lost":
            session.send("parts", jobs=[submit(name) for name, c in numbers.items() if c == m["c"]])
        elif kind == "okay" and m["to"] == locals().get("over"):
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
