/** Hosts by name: what reaches them, what does not, and what is said of it. Servers and names are the test's own. */
import * as ChildProcess from "node:child_process"
import * as Crypto from "node:crypto"
import * as Fs from "node:fs"
import * as Http from "node:http"
import * as Https from "node:https"
import * as Net from "node:net"
import * as Os from "node:os"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { Settings } from "../../../src/sandbox/config/SandboxSettings.js"
import { connect } from "../../../src/sandbox/network/Join.js"
import { CurrentUpstream, make, type Upstream } from "../../../src/sandbox/network/Upstream.js"
import * as Permission from "../../../src/sandbox/permission/Permission.js"
import * as NetworkNamespace from "../../../src/sandbox/platform/linux/live/NetworkNamespace.js"
import * as Listeners from "../../../src/session/Listeners.js"
import { run } from "../../support/cli/Program.js"
import { has } from "../../support/escape/Ground.js"
import * as Directory from "../../support/sandbox/Directory.js"
import { type Manager, type Place, sandboxedOn } from "../../support/sandbox/LocalApp.js"
import { notices } from "../../support/Told.js"
import { certificate, key } from "./Certificate.js"

/** The addresses of names, as the machine's name server would tell them. */
const names: Readonly<Record<string, ReadonlyArray<string>>> = {
  "good.test": ["93.184.216.34"],
  "other.test": ["93.184.216.35"],
  "denied.test": ["93.184.216.36"],
  "sub.wide.test": ["93.184.216.34"],
  "wide.test": ["93.184.216.34"],
  "port.test": ["93.184.216.34"],
  "inner.test": ["10.1.2.3"],
  "mixed.test": ["93.184.216.34", "10.1.2.3"],
  "loop.test": ["127.0.0.1"],
  "mapped.test": ["::ffff:127.0.0.1"],
  "meta.test": ["169.254.169.254"]
}

interface Outside {
  readonly upstream: Upstream
  /** The connections that were made outside. */
  readonly dialled: Array<string>
  /** The requests that arrived: the host, and the path. */
  readonly requests: Array<string>
  /** A port of this machine with an HTTP server. */
  readonly local: number
}

const listening = (server: Net.Server) =>
  Effect.acquireRelease(
    Effect.async<number>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as Net.AddressInfo).port)))
    }),
    () => Effect.sync(() => server.close())
  )

/** Servers for all hosts: HTTP at 80, HTTPS at 443, an echo at any other port. */
const outside = Effect.gen(function* () {
  const requests: Array<string> = []
  const dialled: Array<string> = []
  const respond: Http.RequestListener = (request, response) => {
    requests.push(`${request.headers.host} ${request.url}`)
    request.on("end", () => response.end(`hello from ${request.headers.host}\n`))
    request.resume()
  }
  const http = yield* listening(Http.createServer(respond))
  const https = yield* listening(Https.createServer({ cert: certificate, key }, respond))
  const echo = yield* listening(Net.createServer((socket) => socket.on("error", () => {}).pipe(socket)))
  const upstream: Upstream = {
    ...make(),
    lookup: async (name) => names[name] ?? Promise.reject(new Error(`ENOTFOUND ${name}`)),
    connect: (address, port) => {
      dialled.push(`${address} ${port}`)
      const at = address === "127.0.0.1" ? port : port === 80 ? http : port === 443 ? https : echo
      return connect("127.0.0.1", at)
    }
  }
  return { upstream, requests, dialled, local: http } satisfies Outside
})

/** The hosts of the app, unless a test names others. */
const usual = [
  "good.test",
  "good.test:22",
  "good.test:8443",
  "*.wide.test",
  "inner.test",
  "mixed.test",
  "loop.test"
].concat(["mapped.test", "meta.test", "gone.test", "198.18.7.0/24"])

/** Sends bytes by perl, and prints the answer: the host's address may be any. */
const raw = (host: string, port: number, text: string) =>
  `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(PeerAddr => "${host}", PeerPort => ${port}, Timeout => 5) or die "no connection: $!\\n"; print $s "${text}"; print while <$s>'`

/** Asks the name server by perl, and prints the code of the answer. */
const query = (bytes: string) =>
  `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:53", Proto => "udp"); send($s, pack("H*", "${bytes}"), 0); $SIG{ALRM} = sub { print "silence"; exit }; alarm 1; recv($s, $a, 512, 0); print unpack("H8", substr($a, 2, 4))'`

export const network = (title: string, ground: string, isSecond = false): void => {
  const once = it.live.skipIf(isSecond)
  const sandboxed = sandboxedOn(ground)

  /** Runs with hosts allowed, and with the servers outside. */
  const connected = <A, E>(
    use: (manager: Manager, at: Outside, place: Place) => Effect.Effect<A, E>,
    allowedHosts: ReadonlyArray<string> = usual,
    deniedHosts: ReadonlyArray<string> = [],
    settings: Partial<Settings> = {},
    upstream?: Upstream
  ) =>
    Effect.scoped(
      Effect.flatMap(outside, (at) =>
        sandboxed(
          (manager, place) => {
            const policy = { network: { allowedHosts, deniedHosts } }
            Fs.writeFileSync(`${place.outside}/home/sandbox.json`, JSON.stringify({ policy }))
            return use(manager, at, place)
          },
          { settings }
        ).pipe(Effect.provideService(CurrentUpstream, () => upstream ?? at.upstream))
      )
    )

  describe.skipIf(!has("perl") || !has("curl"))(title, () => {
    it.live("are reached by curl over HTTP and HTTPS, below a wildcard and at named ports", () =>
      connected(({ execute }, { requests }) =>
        Effect.gen(function* () {
          const result = yield* execute(
            "curl -sS http://good.test/a http://sub.wide.test/b; curl -sSk https://good.test/c; curl -sSk https://GOOD.test./d"
          )
          assert.strictEqual(
            result.stdout,
            "hello from good.test\nhello from sub.wide.test\nhello from good.test\nhello from GOOD.test.\n",
            result.stderr
          )
          assert.deepStrictEqual(result.hosts, ["good.test:80", "sub.wide.test:80", "good.test:443"])
          assert.deepStrictEqual(requests.slice(0, 2), ["good.test /a", "sub.wide.test /b"])
          assert.isUndefined(result.blocked || undefined)
          for (const port of [22, 8443]) {
            const echo = yield* execute(
              `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new("good.test:${port}") or die $!; print $s "x$_\\n" and print scalar <$s> for 1..3'`
            )
            assert.strictEqual(echo.stdout, "x1\nx2\nx3\n", echo.stderr)
          }
        })
      )
    )

    once("are reached by node, python, and ssh for git, without a variable", () =>
      connected(({ execute }, { dialled }) =>
        Effect.gen(function* () {
          const code = `fetch("http://good.test/").then((r) => r.text()).then((t) => process.stdout.write(t))`
          const node = yield* execute(`'${process.execPath}' -e '${code}'`)
          assert.strictEqual(node.stdout, "hello from good.test\n", node.stderr)
          if (has("git") && has("ssh")) {
            const git = "GIT_SSH_COMMAND='ssh -o BatchMode=yes -o StrictHostKeyChecking=no' timeout 3 git ls-remote"
            const ssh = yield* execute(`${git} ssh://git@good.test/r.git`)
            // The server repeats what ssh says, which then waits for its keys.
            assert.deepStrictEqual([dialled.at(-1), ssh.hosts], ["93.184.216.34 22", ["good.test:22"]], ssh.stderr)
            assert.notMatch(ssh.stderr, /resolve|refused|reset/i)
          }
          if (!has("python3")) return
          const python = `import urllib.request as u; print(u.urlopen("http://good.test/").read())`
          const result = yield* execute(`python3 -c '${python}'`)
          assert.include(result.stdout, "hello from good.test", result.stderr)
        })
      )
    )

    once("take a body of some size, and answer with one", () =>
      connected(({ execute }) =>
        Effect.gen(function* () {
          const result = yield* execute(
            `head -c 3000000 /dev/zero | tr '\\0' x >f; perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new("good.test:8443") or die $!; if (!fork) { open F, "f"; print $s $_ while read F, $_, 65536; shutdown $s, 1; exit } $n += length while read $s, $_, 65536; print $n'; curl -sS --data-binary @f http://good.test/`
          )
          assert.strictEqual(result.stdout, "3000000hello from good.test\n", result.stderr)
        })
      )
    )

    it.live("are told with host, rule and grant where they are refused, whatever the program prints", () =>
      connected(
        ({ execute }, { dialled }) =>
          Effect.gen(function* () {
            const unknown = yield* execute("curl -sS https://nowhere.test 2>/dev/null")
            assert.deepInclude(unknown, { blocked: true, blockedResource: "nowhere.test", blockedRule: "allowedHosts" })
            assert.match(
              unknown.blockedReason ?? "",
              /nowhere.test is not allowed.*synapse sandbox allow --host nowhere.test/
            )
            const port = yield* execute("curl -sSk https://port.test/")
            assert.deepInclude(port, { blocked: true, blockedResource: "port.test:443" })
            assert.match(port.blockedReason ?? "", /port.test:8443 allows port 8443, and not 443/)
            const denied = yield* execute("curl -sS http://bad.wide.test/")
            assert.deepInclude(denied, { blocked: true, blockedRule: "bad.wide.test" })
            assert.match(denied.blockedReason ?? "", /sandbox forget bad.wide.test/)
            const passing = yield* execute("curl -s http://passing.test/ || true")
            assert.isFalse(passing.blocked)
            assert.match(
              notices(passing)?.join("\n") ?? "",
              /refused a connection: passing.test is not allowed.*synapse sandbox allow --host passing.test$/
            )
            // The status of the pipeline is that of its end.
            const piped = yield* execute("curl -sS http://piped.test/ | head -n 1")
            assert.match(notices(piped)?.join() ?? "", /refused a connection: piped.test is not allowed/)
            assert.deepStrictEqual(dialled, [])
          }),
        ["good.test:443", "port.test:8443", "*.wide.test"],
        ["bad.wide.test"]
      )
    )

    it.live("are not reached by their apex, a suffix, a private address, or a name that does not exist", () =>
      connected(({ execute }, { dialled }) =>
        Effect.gen(function* () {
          const reasons: Readonly<Record<string, RegExp>> = {
            "wide.test": /no entry/,
            "xgood.test": /no entry/,
            "good.test.evil.test": /no entry/,
            "inner.test": /10.1.2.3.*allow private:inner.test:80/,
            "mixed.test": /10.1.2.3/,
            "loop.test": /127.0.0.1/,
            "mapped.test": /::ffff:127.0.0.1/,
            "meta.test": /169.254.169.254/
          }
          for (const [name, reason] of Object.entries(reasons)) {
            const result = yield* execute(`curl -sS http://${name}/`)
            assert.isTrue(result.blocked, name)
            assert.match(result.blockedReason ?? "", reason)
          }
          const gone = yield* execute("curl -sS http://gone.test/")
          assert.match(gone.stderr, /Could not resolve host/)
          assert.isFalse(gone.blocked)
          assert.deepStrictEqual(notices(gone), [
            "Allowed, and not reached from this machine: gone.test (ENOTFOUND gone.test)."
          ])
          assert.deepStrictEqual(dialled, [])
        })
      )
    )

    once("are all public ones where any is allowed, but for those that are denied", () =>
      connected(
        ({ execute }, { dialled }) =>
          Effect.gen(function* () {
            const reached = yield* execute("curl -sS http://good.test/; curl -sSk https://other.test/")
            assert.strictEqual(reached.stdout, "hello from good.test\nhello from other.test\n", reached.stderr)
            const echo = yield* execute(
              `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new("good.test:22") or die $!; print $s "x\n"; print scalar <$s>'`
            )
            assert.strictEqual(echo.stdout, "x\n", echo.stderr)
            dialled.length = 0
            for (const refused of [
              "inner.test",
              "mixed.test",
              "loop.test",
              "mapped.test",
              "meta.test",
              "denied.test",
              "sub.wide.test"
            ]) {
              const result = yield* execute(`curl -sS http://${refused}/`)
              assert.deepInclude(result, { blocked: true, stdout: "" }, refused)
            }
            assert.match((yield* execute("curl -sS http://gone.test/")).stderr, /Could not resolve host/)
            for (const closed of ["localhost:8123", "93.184.216.34", "10.1.2.3", "good.test:8443"]) {
              assert.notInclude((yield* execute(`curl -sS -m 3 http://${closed}/`)).stdout, "hello", closed)
            }
            assert.deepStrictEqual(dialled, [])
          }),
        [],
        ["*.wide.test", "93.184.216.36"],
        { allowNetwork: true }
      )
    )

    /** A proxy that connects to the servers outside, but for `gone.test`; notes what it is asked for. */
    const proxied = <A, E>(
      allowedHosts: ReadonlyArray<string>,
      use: (manager: Manager, asked: Array<string>, at: Outside) => Effect.Effect<A, E>,
      settings: Partial<Settings> = {}
    ) =>
      Effect.scoped(
        Effect.gen(function* () {
          const at = yield* outside
          const asked: Array<string> = []
          const server = Http.createServer()
          server.on("connect", (request, socket: Net.Socket) => {
            asked.push(`${request.url} ${request.headers["proxy-authorization"]}`)
            if (request.url?.startsWith("gone.test")) return socket.end("HTTP/1.1 403 No\r\n\r\n")
            socket.write("HTTP/1.1 200 Yes\r\n\r\n")
            const far = at.upstream.connect("proxied", request.url?.endsWith(":443") ? 443 : 80)
            far.on("error", () => socket.destroy())
            socket.on("error", () => far.destroy())
            far.pipe(socket)
            socket.pipe(far)
            return undefined
          })
          const port = yield* listening(server)
          const { connectByProxy, isProxied } = make({
            HTTPS_PROXY: `http://user:p%40ss@127.0.0.1:${port}`,
            no_proxy: "localhost,.other.test:443"
          })
          return yield* connected((manager) => use(manager, asked, at), allowedHosts, [], settings, {
            ...at.upstream,
            connectByProxy,
            isProxied
          })
        })
      )

    once("are reached through the machine's proxy, by their names", () =>
      proxied(["*.far.test", "near.test", "other.test", "inner.test", "gone.test"], ({ execute }, asked, { dialled }) =>
        Effect.gen(function* () {
          const result = yield* execute(
            "curl -sSk https://near.test/; curl -sS http://a.far.test/; curl -sSk https://other.test/"
          )
          assert.strictEqual(
            result.stdout,
            "hello from near.test\nhello from a.far.test\nhello from other.test\n",
            result.stderr
          )
          const user = `Basic ${Buffer.from("user:p@ss").toString("base64")}`
          assert.deepStrictEqual(asked, [`near.test:443 ${user}`, `a.far.test:80 ${user}`])
          assert.deepStrictEqual(dialled, ["proxied 443", "proxied 80", "93.184.216.35 443"])
          // What the machine knows to be private stays so.
          assert.match((yield* execute("curl -sS http://inner.test/")).blockedReason ?? "", /10.1.2.3/)
          const gone = yield* execute("curl -sSk https://gone.test/")
          assert.isFalse(gone.blocked)
          assert.match(
            notices(gone)?.join() ?? "",
            /^Allowed, and not reached.*gone.test:443 \(.*proxy answers 403\)\.$/
          )
        })
      )
    )

    once("are reached through the proxy at addresses that were checked, where any host is allowed", () =>
      proxied(
        [],
        ({ execute }, asked) =>
          Effect.gen(function* () {
            yield* execute("curl -sSk https://good.test/; curl -sSk https://unknown.test/")
            assert.strictEqual(asked.length, 1)
            assert.match(asked.join(), /^93\.184\.216\.34:443 /)
          }),
        { allowNetwork: true }
      )
    )

    it.live("are those that SNI and each request name, and no others", () =>
      connected(({ execute }, { requests }) =>
        Effect.gen(function* () {
          const attacks = [
            "curl -sSk --connect-to other.test:443:good.test:443 https://other.test/",
            raw("good.test", 443, "GET / HTTP/1.1\\r\\nHost: good.test\\r\\n\\r\\n"),
            "curl -sS -H 'Host: other.test' http://good.test/",
            raw("good.test", 80, "GET / HTTP/1.1\\r\\nHost: good.test\\r\\nHost: other.test\\r\\n\\r\\n"),
            raw("good.test", 80, "GET / HTTP/1.1\\r\\nHost : other.test\\r\\n\\r\\n"),
            raw("good.test", 80, "GET http://other.test/ HTTP/1.1\\r\\nHost: good.test\\r\\n\\r\\n"),
            raw("good.test", 80, "GET http://good.test:6379/ HTTP/1.1\\r\\nHost: good.test\\r\\n\\r\\n"),
            raw("good.test", 80, "GET /x HTTP/1.0\\r\\n\\r\\n"),
            raw("good.test", 80, "CONNECT good.test:25 HTTP/1.1\\r\\nHost: good.test\\r\\n\\r\\n"),
            raw("good.test", 8443, "GET / HTTP/1.1\\r\\nHost: other.test:8443\\r\\n\\r\\n"),
            raw(
              "good.test",
              80,
              "POST / HTTP/1.1\\r\\nHost: good.test\\r\\nContent-Length: 4\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\nGET /smuggled HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n"
            )
          ]
          for (const attack of attacks) {
            const result = yield* execute(attack)
            assert.notInclude(result.stdout, "hello", attack)
          }
          assert.deepStrictEqual(requests, [])
          // An offer of another protocol is not taken.
          const offer =
            "Connection: Upgrade, HTTP2-Settings, close\\r\\nUpgrade: h2c\\r\\nHTTP2-Settings: AAMAAABk\\r\\n"
          const offered = yield* execute(
            raw("good.test", 80, `GET /h2 HTTP/1.1\\r\\nHost: good.test\\r\\n${offer}\\r\\n`)
          )
          assert.match(offered.stdout, /^HTTP\/1\.1 200 OK/)
          assert.deepStrictEqual(requests.splice(0), ["good.test /h2"])
          // The second request of a connection is looked at too.
          const second = yield* execute(
            raw(
              "good.test",
              80,
              "GET /1 HTTP/1.1\\r\\nHost: good.test\\r\\n\\r\\nGET /2 HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n"
            )
          )
          assert.notInclude(second.stdout, "other")
          assert.notInclude(requests.join(), "/2")
        })
      )
    )

    it.live("are not reached by an address, another port, or another socket", () =>
      connected(({ execute }, { dialled }) =>
        Effect.gen(function* () {
          for (const attack of [
            raw("93.184.216.34", 80, "GET / HTTP/1.0\\r\\n\\r\\n"),
            raw("127.1.200.7", 80, "GET / HTTP/1.1\\r\\nHost: good.test\\r\\n\\r\\n"),
            raw("good.test", 25, "x"),
            "curl -sS http://2130706433/ http://0x7f.1/ http://[::ffff:127.0.0.1]/ -m 3",
            "ping -c1 -W1 good.test",
            `perl -MSocket -e 'socket(S, AF_INET, SOCK_RAW, 1) and print "BREACH"'`,
            `perl -MIO::Socket::INET -e 'IO::Socket::INET->new(Listen => 1, ReuseAddr => 1, ReusePort => 1, LocalAddr => "127.0.0.1:$_") and print "BREACH" for 53, 80, 443'`,
            "ip route add local 0.0.0.0/0 dev lo; mount --bind /dev/null /etc/resolv.conf; echo nameserver 8.8.8.8 >/etc/resolv.conf"
          ]) {
            const result = yield* execute(attack)
            assert.notInclude(result.stdout, "BREACH", attack)
            assert.notStrictEqual(result.exitCode === 0 && result.stdout.includes("hello"), true, attack)
          }
          assert.deepStrictEqual(dialled, [])
          const { stdout } = yield* execute("cat /etc/resolv.conf; ps -e -o args; env")
          assert.notMatch(stdout, /NODE_CHANNEL|dgram|8\.8\.8\.8/)
        })
      )
    )

    once("are told to a name server that takes any packet", () =>
      connected(({ execute }) =>
        Effect.gen(function* () {
          const tail = "0000010001"
          const ask = (name: string, type = "0001") => query(`12340100000100000000000${""}0${name}00${type}0001`)
          const good = "04676f6f640474657374"
          assert.strictEqual((yield* execute(ask(good))).stdout, "81800001")
          // IPv6 and HTTPS records: there are none. TXT: refused.
          assert.strictEqual((yield* execute(ask(good, "001c"))).stdout, "81800001")
          assert.strictEqual((yield* execute(ask(good, "0041"))).stdout, "81800001")
          assert.strictEqual((yield* execute(ask(good, "0010"))).stdout, "81850001")
          assert.strictEqual((yield* execute(ask("036162630474657374"))).stdout, "81830001")
          assert.strictEqual(
            (yield* execute(query(`1234010000010000000000000${""}0c00c00010001`))).stdout.slice(0, 3),
            "818"
          )
          assert.strictEqual((yield* execute(query("00"))).stdout, "silence")
          assert.strictEqual((yield* execute(query(`ffff8180000100000000000000${tail}`))).stdout, "silence")
          assert.strictEqual((yield* execute(ask(good))).stdout, "81800001")
        })
      )
    )

    it.live("are the machine's own servers where these are allowed by port", () =>
      Effect.scoped(
        Effect.flatMap(outside, (at) =>
          connected(
            ({ execute }) =>
              Effect.gen(function* () {
                const url = `http://localhost:${at.local}/`
                const result = yield* execute(`curl -sS ${url}; curl -sS http://127.0.0.1:${at.local}/`)
                assert.match(result.stdout, /hello from localhost.*hello from 127.0.0.1/s, result.stderr)
                const own = yield* execute(
                  `perl -MIO::Socket::INET -e '$l = IO::Socket::INET->new(Listen => 1, LocalAddr => "0.0.0.0:8081") or die $!; print "ok"'`
                )
                assert.strictEqual(own.stdout, "ok")
              }),
            [`localhost:${at.local}`]
          )
        )
      )
    )

    once("are open to 1,000 connections at once", () =>
      connected(({ execute }) =>
        Effect.gen(function* () {
          const code = `let n = 0, left = 1000; for (let i = 0; i < 1000; i++) { const s = require("net").connect(8443, "good.test", () => s.write("x")); s.on("data", () => { n++; s.end() }).on("error", (e) => console.error(e.code)).on("close", () => { if (--left === 0) console.log(n) }) }`
          const result = yield* execute(`'${process.execPath}' -e '${code}'`)
          assert.strictEqual(result.stdout, "1000\n", result.stderr)
        })
      )
    )

    /** Starts a server in the background, which answers with its port. */
    const serve = (port: number, address = "127.0.0.1") =>
      `rm -f log-${port}; '${process.execPath}' -e 'require("http").createServer((_, r) => r.end("inside ${port}")).listen(${port}, "${address}", () => console.log("up"))' >log-${port} & until grep -q up log-${port}; do sleep 0.05; done`

    /** Returns a port of the machine that nothing listens at. */
    const freePort = Effect.scoped(listening(Net.createServer()))

    const fetched = (port: number) =>
      Effect.promise(() =>
        fetch(`http://127.0.0.1:${port}/`)
          .then((response) => response.text())
          .catch(() => "refused")
      )

    /** Runs where a person answers, and notes the questions. */
    const asked = <A, E>(
      answers: ReadonlyArray<Permission.Answer>,
      use: (manager: Manager, questions: Array<string>, place: Place) => Effect.Effect<A, E>,
      timeout?: number,
      upstream?: Upstream
    ) =>
      Effect.scoped(
        Effect.flatMap(outside, (at) => {
          const questions: Array<string> = []
          const left = [...answers]
          const permission = Permission.layerCallback(({ resource }) =>
            Effect.zipRight(
              Effect.sync(() => void questions.push(resource)),
              Effect.delay(
                Effect.sync(() => left.shift() ?? "deny"),
                timeout ?? 50
              )
            )
          )
          return sandboxed((manager, place) => use(manager, questions, place), { permission }).pipe(
            Effect.provideService(CurrentUpstream, () => upstream ?? at.upstream)
          )
        })
      )

    once("are asked for once, and the command goes on", () =>
      asked(["allow_once", "allow_session", "allow_permanent", "deny"], ({ execute }, questions, { outside }) =>
        Effect.gen(function* () {
          const deniedHosts = ["other.test:443"]
          Fs.writeFileSync(`${outside}/home/sandbox.json`, JSON.stringify({ policy: { network: { deniedHosts } } }))
          const fetch = "curl -sS http://good.test/"
          assert.strictEqual((yield* execute(fetch)).stdout, "hello from good.test\n")
          // Once is over with the command; several connections are one question.
          const many = yield* execute(`for i in 1 2 3 4; do ${fetch} & done; wait`)
          assert.strictEqual(many.stdout, "hello from good.test\n".repeat(4))
          assert.strictEqual((yield* execute(fetch)).stdout, "hello from good.test\n")
          assert.strictEqual((yield* execute("curl -sSk https://good.test/")).stdout, "hello from good.test\n")
          const denied = yield* execute("curl -sS http://other.test/; curl -sS http://other.test/")
          assert.deepInclude(denied, { blocked: true, blockedResource: "other.test:80", stdout: "" })
          // What is denied is not asked for.
          assert.isTrue((yield* execute("curl -sSk https://other.test/")).blocked)
          assert.deepStrictEqual(questions, ["good.test:80", "good.test:80", "good.test:443", "other.test:80"])
          const { network } = JSON.parse(Fs.readFileSync(`${outside}/home/sandbox.json`, "utf8")).policy
          assert.deepStrictEqual(network, { deniedHosts, allowedHosts: ["good.test:443"] })
        })
      )
    )

    once("are asked for again where their names lead to an address that is not public", () =>
      asked(["allow_session", "allow_permanent", "allow_session", "deny"], ({ execute }, questions, { outside }) =>
        Effect.gen(function* () {
          const fetched = yield* execute("curl -sS http://inner.test/")
          assert.strictEqual(fetched.stdout, "hello from inner.test\n", fetched.stderr)
          assert.isTrue((yield* execute("curl -sS http://mixed.test/")).blocked)
          const all = ["inner.test:80", "private:inner.test:80", "mixed.test:80", "private:mixed.test:80"]
          assert.deepStrictEqual(questions, all)
          // No address of the machine itself can be allowed.
          assert.isTrue((yield* execute("curl -sS http://loop.test/")).blocked)
          assert.deepStrictEqual(questions.slice(4), ["loop.test:80"])
          const { network } = JSON.parse(Fs.readFileSync(`${outside}/home/sandbox.json`, "utf8")).policy
          assert.deepStrictEqual(network.allowedHosts, ["private:inner.test:80"])
        })
      )
    )

    once("and ports are asked for: the machine's own servers, and those that commands start", () =>
      Effect.scoped(
        Effect.flatMap(outside, (at) =>
          asked(
            ["deny", "allow_once", "allow_permanent", "deny", "allow_permanent"],
            ({ execute, restart }, questions, place) =>
              Effect.gen(function* () {
                const reach = `curl -sS http://localhost:${at.local}/`
                const denied = yield* execute(reach)
                assert.deepInclude(denied, { blocked: true, blockedResource: `localhost:${at.local}` })
                // What has run already is not allowed for once.
                assert.isTrue((yield* execute(reach)).blocked)
                const late = yield* execute(reach)
                assert.deepStrictEqual(notices(late), [
                  `Allowed meanwhile: localhost:${at.local}: run the command again.`
                ])
                assert.strictEqual((yield* execute(reach)).stdout, `hello from localhost:${at.local}\n`)
                const { network } = JSON.parse(Fs.readFileSync(`${place.outside}/home/sandbox.json`, "utf8")).policy
                assert.deepStrictEqual(network.allowedHosts, [`localhost:${at.local}`])
                // Above 32,767, a port is taken for a program's own.
                const closed = 10_000 + Math.floor(Math.random() * 20_000)
                const open = closed + 1
                const said = yield* execute(serve(closed))
                assert.match(
                  notices(said)?.join() ?? "",
                  new RegExp(`to open it, outside of the sandbox: synapse port ${closed}`)
                )
                const opened = yield* execute(serve(open))
                assert.match(notices(opened)?.join() ?? "", new RegExp(`open at http://127.0.0.1:${open}\\.`))
                assert.deepStrictEqual([yield* fetched(closed), yield* fetched(open)], ["refused", `inside ${open}`])
                yield* restart
                assert.strictEqual(yield* fetched(open), "refused")
                yield* execute(serve(open))
                assert.strictEqual(yield* fetched(open), `inside ${open}`)
                yield* execute(serve(closed))
                assert.deepStrictEqual(questions.slice(3), [`127.0.0.1:${closed}`, `127.0.0.1:${open}`])
              })
          )
        )
      )
    )

    once("are asked for while the time of the command stands still", () =>
      asked(
        ["allow_session"],
        ({ execute }) =>
          Effect.gen(function* () {
            const result = yield* execute("curl -sS http://good.test/", { timeout: 1500 })
            assert.strictEqual(result.stdout, "hello from good.test\n", result.stderr)
          }),
        2500
      )
    )

    once("are told of where a yes came after the program had given up", () =>
      asked(
        ["allow_session", "deny"],
        ({ execute }) =>
          Effect.gen(function* () {
            const late = yield* execute("curl -sS -m 1 http://good.test/")
            assert.deepStrictEqual([late.exitCode, late.blocked], [28, false])
            assert.deepStrictEqual(notices(late), ["Allowed meanwhile: good.test:80: run the command again."])
            assert.strictEqual((yield* execute("curl -sS http://good.test/")).stdout, "hello from good.test\n")
            assert.isTrue((yield* execute("curl -sS -m 1 http://other.test/")).blocked)
          }),
        3000
      )
    )

    once("are found anew when a sandbox starts, and only where their addresses are public by then", () => {
      const answers = [["93.184.216.34"], ["93.184.216.35"], ["2606:2800:220:1::1"], ["10.1.2.3"]]
      return Effect.scoped(
        Effect.flatMap(outside, (at) =>
          connected(
            ({ execute, restart }) =>
              Effect.gen(function* () {
                for (const address of ["93.184.216.34", "93.184.216.35", "2606:2800:220:1::1"]) {
                  // Of several connections, each goes to the address that was looked at.
                  const result = yield* execute("curl -sS http://moving.test/ http://moving.test/")
                  assert.strictEqual(result.stdout, "hello from moving.test\n".repeat(2), result.stderr)
                  assert.deepStrictEqual([...new Set(at.dialled.splice(0))], [`${address} 80`])
                  yield* restart
                }
                assert.match((yield* execute("curl -sS http://moving.test/")).blockedReason ?? "", /10.1.2.3/)
                assert.deepStrictEqual(at.dialled, [])
              }),
            ["moving.test"],
            [],
            {},
            { ...at.upstream, lookup: async () => answers.shift() ?? [] }
          )
        )
      )
    })

    it.live.skipIf(!Fs.existsSync("/usr/sbin/ip") && !Fs.existsSync("/sbin/ip"))(
      "are addresses of a block, and none beside it",
      () =>
        connected(({ execute }, { dialled }) =>
          Effect.gen(function* () {
            const result = yield* execute("curl -sS http://198.18.7.9/; curl -sSk https://198.18.7.200/")
            assert.strictEqual(result.stdout, "hello from 198.18.7.9\nhello from 198.18.7.200\n", result.stderr)
            for (const closed of ["198.18.8.1", "198.18.6.255", "198.18.7.9:8443", "[2606:2800:220:1::1]"]) {
              assert.strictEqual((yield* execute(`curl -sS -m 3 http://${closed}/`)).stdout, "", closed)
            }
            assert.deepStrictEqual(dialled, ["198.18.7.9 80", "198.18.7.200 443"])
          })
        )
    )

    /** Runs where all connections lead to one server of the test's, and a person is asked once whether to allow it. */
    const served = <A, E>(
      server: Http.RequestListener | Net.Server,
      use: (manager: Manager, place: Place) => Effect.Effect<A, E>,
      question = "good.test:80"
    ) =>
      Effect.scoped(
        Effect.gen(function* () {
          const { upstream } = yield* outside
          const port = yield* listening(typeof server === "function" ? Http.createServer(server) : server)
          const toServer = () => connect("127.0.0.1", port)
          const once = (manager: Manager, questions: ReadonlyArray<string>, place: Place) =>
            Effect.andThen(use(manager, place), () => assert.deepStrictEqual(questions, [question]))
          return yield* asked(["allow_session"], once, undefined, { ...upstream, connect: toServer })
        })
      )

    /** Serves pages by their paths. */
    const paged =
      (pages: Readonly<Record<string, string | Buffer>>): Http.RequestListener =>
      (request, response) => {
        const page = pages[request.url ?? ""]
        response.statusCode = page === undefined ? 404 : 200
        response.end(page)
      }

    /** Serves git repositories by git's own program. */
    const gitServer =
      (root: string): Http.RequestListener =>
      (request, response) => {
        const [path, query = ""] = request.url?.split("?") ?? []
        const { headers, method } = request
        const env = {
          ...process.env,
          GIT_PROJECT_ROOT: root,
          GIT_HTTP_EXPORT_ALL: "1",
          PATH_INFO: path,
          QUERY_STRING: query,
          REQUEST_METHOD: method,
          CONTENT_TYPE: headers["content-type"] ?? "",
          HTTP_CONTENT_ENCODING: headers["content-encoding"] ?? "",
          ...(headers["content-length"] && { CONTENT_LENGTH: headers["content-length"] })
        }
        const child = ChildProcess.spawn("git", ["http-backend"], { env })
        request.pipe(child.stdin.on("error", () => {}))
        const parts: Array<Buffer> = []
        child.stdout.on("data", (part) => parts.push(part))
        child.stdout.on("end", () => {
          const all = Buffer.concat(parts)
          const end = all.indexOf("\r\n\r\n")
          for (const line of all.toString("latin1", 0, end).split("\r\n")) {
            const [name = "", value = ""] = line.split(": ")
            if (name === "Status") response.statusCode = Number.parseInt(value, 10)
            else response.setHeader(name, value)
          }
          response.end(all.subarray(end + 4))
        })
      }

    it.live.skipIf(isSecond || !has("git"))("are reached by git, which clones and pushes", () =>
      Effect.scoped(
        Effect.flatMap(Directory.make, (root) => {
          ChildProcess.execFileSync("git", ["init", "-q", "--bare", "-b", "main", `${root}/r.git`])
          ChildProcess.execFileSync("git", ["-C", `${root}/r.git`, "config", "http.receivepack", "true"])
          return served(gitServer(root), ({ execute }) =>
            Effect.gen(function* () {
              const result = yield* execute(
                "git clone -q http://good.test/r.git r 2>&1 && cd r && git config user.name a && git config user.email a@b && " +
                  "head -c 300000 /dev/urandom >f && git add f && git commit -qm one && git push -q origin HEAD:main && " +
                  "git clone -q http://good.test/r.git ../s && git -C ../s log --format=%s"
              )
              assert.match(result.stdout, /^one$/m, result.stdout + result.stderr)
            })
          )
        })
      )
    )

    const sshd = "/usr/sbin/sshd"
    // As root, sshd needs a directory that only its service makes.
    const isReady = process.getuid?.() !== 0 || Fs.existsSync("/run/sshd")
    it.live.skipIf(isSecond || !isReady || !has("git") || !has("ssh") || !Fs.existsSync(sshd))(
      "are reached by git over ssh, which clones and pushes",
      () =>
        Effect.scoped(
          Effect.flatMap(Directory.make, (root) => {
            ChildProcess.execFileSync("git", ["init", "-q", "--bare", "-b", "main", `${root}/r.git`])
            for (const file of ["host", "user"]) {
              ChildProcess.execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", `${root}/${file}`])
            }
            const options = [
              ...["UsePAM=no", "StrictModes=no", "PidFile=none", `HostKey=${root}/host`],
              `AuthorizedKeysFile=${root}/user.pub`
            ]
            const args = ["-i", "-e", "-f", "/dev/null", ...options.flatMap((option) => ["-o", option])]
            const server = Net.createServer((socket) => {
              const { stdin, stdout } = ChildProcess.spawn(sshd, args, { stdio: ["pipe", "pipe", "ignore"] })
              socket.on("error", () => {}).pipe(stdin.on("error", () => {}))
              stdout.pipe(socket)
            })
            return served(
              server,
              ({ execute }, { project }) =>
                Effect.gen(function* () {
                  Fs.copyFileSync(`${root}/user`, `${project}/mine`)
                  const { username } = Os.userInfo()
                  const ssh = `ssh -i $PWD/mine -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null`
                  const at = `ssh://${username}@good.test${root}/r.git`
                  const result = yield* execute(
                    `chmod 600 mine; export GIT_SSH_COMMAND="${ssh}"; git clone -q ${at} r && cd r && git config user.name a && ` +
                      `git config user.email a@b && echo x >f && git add f && git commit -qm one && git push -q origin HEAD:main && ` +
                      `git clone -q ${at} ../s && git -C ../s log --format=%s`
                  )
                  assert.deepStrictEqual([result.stdout, result.hosts], ["one\n", ["good.test:22"]], result.stderr)
                }),
              "good.test:22"
            )
          })
        )
    )

    it.live.skipIf(isSecond || !has("npm"))("are reached by npm, which installs what the lock file has", () => {
      const tarball = ChildProcess.execFileSync("bash", [
        "-c",
        `d=$(mktemp -d) && mkdir $d/package && cd $d && echo '{"name":"tiny","version":"1.0.0"}' >package/package.json && tar czf - package; rm -r $d`
      ])
      const shasum = Crypto.createHash("sha1").update(tarball).digest("hex")
      const dist = { tarball: "http://good.test/tiny.tgz", shasum }
      const versions = { "1.0.0": { name: "tiny", version: "1.0.0", dist } }
      const tiny = JSON.stringify({ name: "tiny", "dist-tags": { latest: "1.0.0" }, versions })
      const pages = { "/tiny": tiny, "/tiny.tgz": tarball }
      return served(paged(pages), ({ execute }, { project }) =>
        Effect.gen(function* () {
          Fs.writeFileSync(`${project}/package.json`, '{"name":"p","version":"1.0.0"}')
          const npm = "npm --registry http://good.test/ --no-audit --no-fund"
          const result = yield* execute(
            `${npm} i tiny >/dev/null; rm -r node_modules; ${npm} ci >/dev/null; ls node_modules`
          )
          assert.deepStrictEqual([result.stdout, result.hosts], ["tiny\n", ["good.test:80"]], result.stderr)
        })
      )
    })

    it.live.skipIf(isSecond || !has("npm"))("are reached by npm at the registry of this machine", (context) =>
      Effect.gen(function* () {
        const view = "npm --fetch-retries=0 --fetch-timeout=5000 view is-number@7.0.0 version"
        const outside = ChildProcess.spawnSync("bash", ["-c", view], { encoding: "utf8" })
        if (outside.stdout !== "7.0.0\n") return context.skip("the registry that npm is set to can't be reached")
        const permission = Permission.layerCallback(() => Effect.succeed("allow_session"))
        yield* sandboxed(
          ({ execute }) =>
            Effect.gen(function* () {
              const { stderr, stdout } = yield* execute(view)
              assert.strictEqual(stdout, "7.0.0\n", stderr)
            }),
          { permission }
        )
      })
    )

    it.live.skipIf(isSecond || !has("pip"))("are reached by pip", () => {
      const wheel = ChildProcess.execFileSync("python3", [
        "-c",
        `import io, sys, zipfile; b = io.BytesIO(); z = zipfile.ZipFile(b, "w"); z.writestr("tiny.py", ""); d = "tiny-1.0.dist-info/"
z.writestr(d + "METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n"); z.writestr(d + "RECORD", "")
z.writestr(d + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"); z.close(); sys.stdout.buffer.write(b.getvalue())`
      ])
      const name = "tiny-1.0-py3-none-any.whl"
      return served(
        (request, response) => {
          if (request.url === "/simple/tiny/") {
            response.setHeader("content-type", "text/html")
            return response.end(`<!DOCTYPE html><a href="/files/${name}">${name}</a>`)
          }
          response.statusCode = request.url === `/files/${name}` ? 200 : 404
          return response.end(response.statusCode === 200 ? wheel : "")
        },
        ({ execute }) =>
          Effect.gen(function* () {
            const result = yield* execute(
              "pip download -q --no-deps --index-url http://good.test/simple --trusted-host good.test tiny; ls *.whl"
            )
            assert.strictEqual(result.stdout, `${name}\n`, result.stderr)
          })
      )
    })

    // Cargo reads such an index since 1.68.
    const readsIndex = () =>
      has("cargo") &&
      /cargo 1\.(?:6[89]|[7-9]\d|\d{3})/.test(ChildProcess.execFileSync("cargo", ["--version"]).toString())
    it.live.skipIf(isSecond || !readsIndex())("are reached by cargo", () => {
      const crate = ChildProcess.execFileSync("bash", [
        "-c",
        `d=$(mktemp -d) && mkdir -p $d/tiny-1.0.0/src && cd $d && printf '[package]\nname="tiny"\nversion="1.0.0"\n' >tiny-1.0.0/Cargo.toml && : >tiny-1.0.0/src/lib.rs && tar czf - tiny-1.0.0; rm -r $d`
      ])
      const cksum = Crypto.createHash("sha256").update(crate).digest("hex")
      const pages = {
        "/index/config.json": '{"dl":"http://good.test/dl"}',
        "/index/ti/ny/tiny": `${JSON.stringify({ name: "tiny", vers: "1.0.0", deps: [], cksum, features: {}, yanked: false })}\n`,
        "/dl/tiny/1.0.0/download": crate
      }
      return served(paged(pages), ({ execute }, { project }) =>
        Effect.gen(function* () {
          Fs.mkdirSync(`${project}/.cargo`)
          Fs.mkdirSync(`${project}/src`)
          Fs.writeFileSync(`${project}/src/lib.rs`, "")
          Fs.writeFileSync(
            `${project}/.cargo/config.toml`,
            '[source.crates-io]\nreplace-with = "m"\n[source.m]\nregistry = "sparse+http://good.test/index/"\n'
          )
          Fs.writeFileSync(
            `${project}/Cargo.toml`,
            '[package]\nname = "p"\nversion = "0.1.0"\n[dependencies]\ntiny = "1"\n'
          )
          const result = yield* execute("CARGO_HOME=$PWD/home cargo fetch")
          assert.deepStrictEqual([result.exitCode, result.hosts], [0, ["good.test:80"]], result.stderr)
        })
      )
    })

    it.live.skipIf(isSecond || !has("go") || !has("python3"))("are reached by Go", () => {
      const mod = "module m.test/tiny\n"
      const zip = ChildProcess.execFileSync("python3", [
        "-c",
        `import io, sys, zipfile; b = io.BytesIO(); z = zipfile.ZipFile(b, "w"); d = "m.test/tiny@v1.0.0/"
z.writestr(d + "go.mod", "module m.test/tiny\\n"); z.writestr(d + "t.go", "package tiny\\n"); z.close(); sys.stdout.buffer.write(b.getvalue())`
      ])
      const at = (ending: string) => `/m.test/tiny/@v/v1.0.0.${ending}`
      const pages = { [at("info")]: '{"Version":"v1.0.0"}', [at("mod")]: mod, [at("zip")]: zip }
      return served(paged(pages), ({ execute }, { project }) =>
        Effect.gen(function* () {
          Fs.writeFileSync(`${project}/go.mod`, "module p\nrequire m.test/tiny v1.0.0\n")
          const go =
            "GOPROXY=http://good.test GOSUMDB=off GOFLAGS=-modcacherw GOMODCACHE=$PWD/mod GOCACHE=$PWD/cache go"
          const result = yield* execute(`${go} mod download && ls mod/m.test`)
          assert.deepStrictEqual([result.stdout, result.hosts], ["tiny@v1.0.0\n", ["good.test:80"]], result.stderr)
        })
      )
    })

    it.live.skipIf(isSecond || !has("javac"))("are reached by Java", () =>
      connected(({ execute }) =>
        Effect.gen(function* () {
          const code = `public class J { public static void main(String[] a) throws Exception { System.out.write(new java.net.URL("http://good.test/").openStream().readAllBytes()); System.out.flush(); } }`
          const result = yield* execute(`cat >J.java <<'E'\n${code}\nE\njava -Xint J.java`)
          assert.strictEqual(result.stdout, "hello from good.test\n", result.stderr)
        })
      )
    )

    once("are allowed and taken back while a sandbox runs, and connections are cut", () =>
      connected(
        ({ execute }, _, { outside }) =>
          Effect.gen(function* () {
            const write = (...allowedHosts: ReadonlyArray<string>) =>
              Effect.sync(() =>
                Fs.writeFileSync(
                  `${outside}/home/sandbox.json`,
                  JSON.stringify({ policy: { network: { allowedHosts } } })
                )
              )
            assert.isTrue((yield* execute("x=1; curl -sS http://good.test/")).blocked)
            yield* write("good.test", "good.test:8443")
            assert.strictEqual(
              (yield* execute("curl -sS http://good.test/; echo $x")).stdout,
              "hello from good.test\n1\n"
            )
            const held = execute(
              `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new("good.test:8443") or die $!; print $s "x\n"; print scalar <$s>; $r = <$s>; print defined $r ? "more" : "cut"'`
            )
            const [result] = yield* Effect.all([held, Effect.delay(write("other.test"), 1500)], { concurrency: 2 })
            assert.strictEqual(result.stdout, "x\ncut")
            assert.isTrue((yield* execute("curl -sS http://good.test/")).blocked)
          }),
        ["other.test"]
      )
    )

    it.live("and servers of the sandbox are told of once, and opened on the machine where that is asked for", () =>
      Effect.flatMap(Effect.all([freePort, freePort]), ([outside, other]) =>
        connected(
          ({ execute, restart }) =>
            Effect.gen(function* () {
              yield* execute("true")
              assert.strictEqual(yield* fetched(outside), "refused")
              const up = yield* execute(`${serve(8123)}; ${serve(8124, "::1")}; ${serve(8125, "0.0.0.0")}`)
              assert.match(notices(up)?.join() ?? "", new RegExp(`Listening on 8123: .*127.0.0.1:${outside}\\. `))
              assert.match(
                notices(up)?.join() ?? "",
                /Listening on 8125: to open it, outside of the sandbox: synapse port 8125/
              )
              assert.strictEqual(yield* fetched(outside), "inside 8123")
              assert.strictEqual(yield* fetched(other), "inside 8124")
              const many = yield* Effect.all(
                Array.from({ length: 50 }, () => fetched(outside)),
                { concurrency: "unbounded" }
              )
              assert.deepStrictEqual([...new Set(many)], ["inside 8123"])
              // One that takes any port is a program's own affair.
              const given = yield* execute(
                `perl -MIO::Socket::INET -e 'fork and exit; $l = IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1:45123"); close STDOUT; close STDERR; sleep 60' >/dev/null 2>&1; sleep 0.3; true`
              )
              assert.notMatch(notices(given)?.join() ?? "", /Listening/)
              yield* restart
              yield* execute(serve(8123))
              assert.strictEqual(yield* fetched(outside), "inside 8123")
            }),
          [],
          [],
          {
            published: [
              { inside: 8123, outside },
              { inside: 8124, outside: other }
            ]
          }
        )
      )
    )

    it.live("and servers are not opened at a port of the machine that is taken", () =>
      Effect.scoped(
        Effect.flatMap(listening(Net.createServer()), (outside) =>
          connected(
            ({ execute }) =>
              Effect.gen(function* () {
                const retold = yield* execute("true")
                assert.match(
                  notices(retold)?.join() ?? "",
                  /^Port 8123 is not open to the user: port \d+ of the machine is taken; 8123:<port> names another one/
                )
                // Once alone.
                assert.isUndefined(notices(yield* execute("true")))
              }),
            [],
            [],
            { published: [{ inside: 8123, outside }] }
          )
        )
      )
    )

    it.live("and servers of a sandbox are found and opened from outside", () => {
      // Another sandbox of this user may have a server at any port.
      const inside = 10_000 + Math.floor(Math.random() * 20_000)
      return Effect.flatMap(freePort, (outside) =>
        connected(({ execute }, _, { project }) =>
          Effect.gen(function* () {
            yield* execute(serve(inside, "::"))
            const places = NetworkNamespace.running().filter(({ cwd }) => cwd === Fs.realpathSync(project))
            assert.strictEqual(places.length, 1)
            const [place] = places as [NetworkNamespace.Running]
            // The gateway's own are not among them.
            assert.deepStrictEqual(Listeners.portsOf(Listeners.readOwn(place.inner)), [inside])
            assert.include((yield* run(["port"])).stdout, `${inside}  ${place.cwd}\n`)
            const none = yield* run(["port", "9"])
            assert.match(none.stderr, /No sandbox that runs has a server on port 9/)
            const fiber = yield* Effect.fork(run(["port", `${inside}:${outside}`]))
            const body = yield* Effect.repeat(Effect.delay(fetched(outside), 50), {
              until: (text) => text !== "refused"
            })
            assert.strictEqual(body, `inside ${inside}`)
            yield* Fiber.interrupt(fiber)
            assert.strictEqual(yield* fetched(outside), "refused")
          })
        )
      )
    })

    it.live("come back with a new shell", () =>
      connected(({ execute, restart }) =>
        Effect.gen(function* () {
          yield* execute("true")
          yield* restart
          assert.strictEqual((yield* execute("curl -sS http://good.test/")).stdout, "hello from good.test\n")
        })
      )
    )
  })

  it.live("without an allowed host, nothing is there", () =>
    sandboxed(({ execute }) =>
      Effect.gen(function* () {
        const result = yield* execute(
          "cat /proc/net/udp /proc/net/tcp | grep -c ' 00000000:0000 '; mount | grep -c resolv.conf"
        )
        assert.strictEqual(result.stdout, "0\n0\n")
      })
    )
  )
}
