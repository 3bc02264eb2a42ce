/** Sockets to everywhere: this machine, its network, its services. */
import * as Dgram from "node:dgram"
import * as Http from "node:http"
import * as Net from "node:net"
import * as Path from "node:path"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Attack, Families, Scene } from "../support/escape/Attack.js"

/** What listens outside, in the test's own process, and counts its visitors. */
const listen = (ground: string) => {
  let visits = 0
  const count = () => {
    visits++
  }
  const http = Http.createServer((_, response) => {
    count()
    response.end("BREACH\n")
  })
  const on = (path: string) =>
    Net.createServer((socket) => {
      count()
      socket.end("BREACH\n")
    })
      .listen(path)
      .unref()
  const udp = Dgram.createSocket("udp4").on("message", count)
  http.listen(0, "127.0.0.1").unref()
  udp.bind(0, "127.0.0.1").unref()
  const path = Path.join(ground, "docker.sock")
  const name = `escape-${crypto.randomUUID()}`
  on(path)
  on(`\0${name}`)
  const portOf = (address: Net.AddressInfo | string | null) => (typeof address === "object" ? (address?.port ?? 0) : 0)
  return {
    path,
    name,
    tcp: () => portOf(http.address()),
    udp: () => portOf(udp.address()),
    visits: () => visits
  }
}

type Servers = ReturnType<typeof listen>

const connectUnix = (address: string, kind = "SOCK_STREAM") =>
  `perl -MSocket -e 'my $a = pack_sockaddr_un(${address}); (socket(S, AF_UNIX, ${kind}, 0) && connect(S, $a)) ? print "BREACH\\n" : print "$!\\n"'`

const attacks = (servers: Servers): ReadonlyArray<Attack> => [
  {
    title: "tcp by bash",
    says: /refused|unreachable/,
    script: () =>
      `exec 5<>/dev/tcp/127.0.0.1/${servers.tcp()} && echo BREACH; exec 5<>/dev/tcp/localhost/${servers.tcp()} && echo BREACH`
  },
  {
    title: "http by curl",
    needs: ["curl"],
    says: /curl: \(/,
    script: () => `curl -sS --max-time 3 http://127.0.0.1:${servers.tcp()}/; curl -sS --max-time 3 http://1.1.1.1/`
  },
  {
    title: "http by python",
    needs: ["python3"],
    says: /refused|unreachable/,
    script: () =>
      `python3 -c 'import urllib.request as u; print(u.urlopen("http://127.0.0.1:${servers.tcp()}").read())'`
  },
  {
    title: "http by node",
    needs: ["node"],
    says: /ECONNREFUSED/,
    script: () =>
      `node -e 'fetch("http://127.0.0.1:${servers.tcp()}").then(r => r.text()).then(console.log, e => console.log(e.cause.code))'`
  },
  {
    title: "the host's other addresses",
    says: /unreachable|refused|No such/,
    script:
      "for a in 10.0.0.1 169.254.169.254 172.17.0.1 192.168.0.1; do exec 5<>/dev/tcp/$a/80 && echo BREACH; done; true"
  },
  {
    title: "udp",
    needs: ["perl"],
    script: () =>
      `perl -MSocket -e 'socket(S, AF_INET, SOCK_DGRAM, 0); send(S, "x", 0, pack_sockaddr_in(${servers.udp()}, inet_aton("127.0.0.1"))); send(S, "x", 0, pack_sockaddr_in(53, inet_aton("8.8.8.8"))) and print "BREACH\\n"'`
  },
  {
    title: "dns",
    needs: ["getent"],
    script: "getent hosts example.com && echo BREACH; true"
  },
  {
    title: "dns by python",
    needs: ["python3"],
    says: /gaierror/,
    script: `python3 -c 'import socket; print(socket.gethostbyname("example.com"), "BREACH")'`
  },
  {
    title: "ipv6",
    needs: ["perl"],
    says: /unreachable|not permitted|Cannot assign/i,
    script: `perl -MSocket=:all -e 'socket(S, AF_INET6, SOCK_STREAM, 0); connect(S, pack_sockaddr_in6(80, inet_pton(AF_INET6, "2606:4700:4700::1111"))) ? print "BREACH\\n" : print "$!\\n"'`
  },
  ...(
    [
      ["a raw socket", 2, 3, 1],
      ["a packet socket", 17, 3, 768],
      ["a netlink socket for auditing", 16, 3, 9],
      ["a netlink socket for the kernel's events", 16, 3, 15],
      ["a vsock", 40, 1, 0],
      ["bluetooth", 31, 5, 0],
      ["a crypto socket", 38, 5, 0],
      ["a unix socket", 1, 1, 0],
      ["a unix datagram socket", 1, 2, 0],
      ["a unix socket, with more bits", "0x100000001", 1, 0]
    ] as const
  ).map(
    ([title, ...args]): Attack => ({
      title,
      needs: ["python3"],
      says: /-1/,
      script: `python3 -c 'import ctypes; l = ctypes.CDLL(None); r = l.syscall(ctypes.c_long(${process.arch === "arm64" ? 198 : 41}), ${args.map((arg) => `ctypes.c_long(${arg})`).join(", ")}); print(r if r < 0 else "BREACH")'`
    })
  ),
  {
    title: "an interface of its own, or the host's",
    says: /lo/,
    script: "cut -d: -f1 -s /proc/net/dev; test $(grep -c : /proc/net/dev) = 1 || echo BREACH"
  },
  {
    title: "an interface that is changed or made",
    needs: ["ip"],
    says: /not permitted/,
    script: "ip link set lo down && echo BREACH; ip link add x type dummy && echo BREACH"
  },
  {
    title: "a service's socket by its path",
    needs: ["perl"],
    says: /not permitted/,
    script: () => connectUnix(`"${servers.path}"`)
  },
  {
    title: "a service's socket by a link",
    needs: ["perl"],
    says: /not permitted/,
    script: () => `ln -sf ${servers.path} s.sock; ${connectUnix('"s.sock"')}; ${connectUnix('"s.sock"', "SOCK_DGRAM")}`
  },
  {
    title: "an abstract socket",
    needs: ["perl"],
    says: /not permitted/,
    script: () => connectUnix(`"\\0${servers.name}"`)
  },
  {
    title: "a service's socket by curl",
    needs: ["curl"],
    says: /curl: \(/,
    script: () => `curl -sS --max-time 3 --unix-socket ${servers.path} http://x/`
  },
  {
    title: "a pair of datagram sockets, sent elsewhere",
    needs: ["python3"],
    says: /not permitted/,
    script: () => `python3 -c '
import socket
try:
  a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
  a.sendto(b"x", "${servers.path}"); print("BREACH")
except OSError as e: print(e)'`
  },
  {
    title: "a pair of stream sockets, connected elsewhere",
    needs: ["python3"],
    says: /Errno/,
    script: () => `python3 -c '
import socket
a, b = socket.socketpair()
a.send(b"ok"); assert b.recv(2) == b"ok"
for address in ("${servers.path}", "\\0${servers.name}"):
  try: a.connect(address); print("BREACH")
  except OSError as e: print(e)'`
  },
  {
    title: "system services",
    script:
      "for s in /run/docker.sock /var/run/docker.sock /run/dbus/system_bus_socket /run/systemd/private /run/containerd/containerd.sock; do test -e $s && echo BREACH; done; true"
  }
]

export const network = (ground: string): Families => {
  const servers = listen(ground)
  let invited = 0
  const invites: Scene = {
    title: "what listens outside answers outside",
    test: () =>
      Effect.gen(function* () {
        const before = servers.visits()
        const text = yield* Effect.promise(async () => (await fetch(`http://127.0.0.1:${servers.tcp()}`)).text())
        const dial = (path: string) =>
          Effect.async<string>((resume) => {
            Net.connect(path).on("data", (chunk) => resume(Effect.succeed(chunk.toString())))
          })
        assert.deepStrictEqual(
          [text, yield* dial(servers.path), yield* dial(`\0${servers.name}`)],
          Array(3).fill("BREACH\n")
        )
        invited = servers.visits()
        assert.strictEqual(invited - before, 3)
      })
  }
  const uninvited = attacks(servers).map((attack) => ({
    ...attack,
    after: () => Effect.sync(() => assert.strictEqual(servers.visits(), invited))
  }))
  return { "network and sockets": [invites, ...uninvited] }
}
