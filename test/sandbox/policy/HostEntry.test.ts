import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as HostEntry from "../../../src/sandbox/policy/HostEntry.js"

const read = (entry: string, list: "allowed" | "denied" = "allowed") => HostEntry.parse(entry, list)

const rules = (list: "allowed" | "denied", ...entries: ReadonlyArray<string>): ReadonlyArray<HostEntry.HostRule> =>
  entries.map((pattern) => ({ ...Either.getOrThrow(read(pattern, list)), pattern, source: "file" }))

const verdict = (allowed: ReadonlyArray<string>, denied: ReadonlyArray<string>, host: string, port?: number) =>
  HostEntry.decide({ allowed: rules("allowed", ...allowed), denied: rules("denied", ...denied) }, host, port).allowed

describe("an entry for hosts", () => {
  it("is read in each of its forms", () => {
    const base = { kind: "name", host: "example.com", bits: 32, ports: [], isPrivate: false, methods: [] }
    const forms: Readonly<Record<string, object>> = {
      "example.com": base,
      "EXAMPLE.com.": base,
      "ｅxample.com": base,
      "example.com:8443": { ...base, ports: [8443] },
      "*.example.com:22": { ...base, kind: "below", ports: [22] },
      "private:example.com": { ...base, isPrivate: true },
      "GET,HEAD:example.com": { ...base, methods: ["GET", "HEAD"] },
      "private:POST:example.com:8080": { ...base, isPrivate: true, methods: ["POST"], ports: [8080] },
      "GET:80": { ...base, host: "get", ports: [80] },
      "private:443": { ...base, host: "private", ports: [443] },
      "bücher.example": { ...base, host: "xn--bcher-kva.example" },
      "192.0.2.7": { ...base, kind: "addresses", host: "192.0.2.7" },
      "10.1.2.3/16:443": { ...base, kind: "addresses", host: "10.1.0.0", bits: 16, ports: [443] },
      "localhost:5432": { ...base, kind: "machine", host: "localhost", ports: [5432] }
    }
    for (const [entry, meaning] of Object.entries(forms)) {
      assert.deepStrictEqual(Either.getOrElse(read(entry), String) as object, meaning, entry)
    }
  })

  it("is refused, with the reason, where it names more than a host, or none", () => {
    const refused: Readonly<Record<string, RegExp>> = {
      "https://example.com": /write the name alone/,
      "example.com/a": /write the name alone/,
      "user@example.com": /write the name alone/,
      "example.com#a": /write the name alone/,
      "example.com:0": /a port is a number/,
      "example.com:65536": /a port is a number/,
      "example.com:0443": /a port is a number/,
      "example.com:*": /its port must be a number/,
      "*": /every host/,
      "*:443": /every host/,
      "*.com": /anybody/,
      "*.co.uk": /anybody/,
      "*.github.io": /anybody/,
      localhost: /give the port/,
      "GET:localhost:80": /plain HTTP to a host alone/,
      "GET:example.com:443": /plain HTTP to a host alone/,
      "GET,:example.com": /no name of a host|IPv6/,
      "get:example.com": /no name of a host|IPv6/,
      "GET:*": /every host/,
      "127.0.0.1:5432": /write localhost/,
      "169.254.169.254": /credentials/,
      "169.0.0.0/8": /credentials/,
      "0.0.0.0/0": /wider/,
      "224.0.0.1": /no address of one host/,
      "10.0.0.0/8:8080": /single addresses/,
      "[::1]:80": /IPv6/,
      "a%00.com": /no name of a host/,
      "a b.com": /one word/,
      "a..com": /no name of a host/,
      "": /one word/
    }
    for (const [entry, reason] of Object.entries(refused)) {
      assert.match(Either.merge(Either.map(read(entry), JSON.stringify)), reason, entry)
    }
    // Numbers that programs read as 169.254.169.254 or 127.0.0.1.
    for (const entry of ["2852039166", "0xa9fea9fe", "0x7f.1", "127.1", "0177.0.0.1", "1.2.3.4.5", "a.0x1"]) {
      assert.match(Either.merge(Either.map(read(entry), JSON.stringify)), /no name of a host/, entry)
    }
    // Below these, a command could have a name for any address, or a stranger's host.
    for (const entry of ["*.nip.io", "*.NIP.io.", "*.10.0.0.1.sslip.io", "private:*.localtest.me", "*.go.jp"]) {
      assert.match(Either.merge(Either.map(read(entry), JSON.stringify)), /anybody/, entry)
    }
    for (const entry of [
      "*.s3.eu-west-1.amazonaws.com",
      "*.blob.core.windows.net:443",
      "*.herokuapp.com",
      "*.run.app"
    ]) {
      assert.match(Either.merge(Either.map(read(entry), JSON.stringify)), /anybody/, entry)
    }
    for (const entry of ["*.com", "*.nip.io"]) assert.isTrue(Either.isRight(read(entry, "denied")), entry)
    for (const entry of ["10.0.0.1.nip.io", "*.team.workers.dev", "*.turnip.io", "*.xamazonaws.com"]) {
      assert.isTrue(Either.isRight(read(entry)), entry)
    }
  })

  it("decides by name and port, and a denial wins", () => {
    assert.isTrue(verdict(["a.org"], [], "a.org", 443))
    assert.isTrue(verdict(["a.org"], [], "a.org", 80))
    assert.isTrue(verdict(["a.org:22"], [], "a.org"))
    assert.isFalse(verdict(["a.org"], [], "a.org", 22))
    assert.isFalse(verdict(["a.org:22"], [], "a.org", 443))
    assert.isFalse(verdict(["a.org"], [], "b.a.org", 443))
    assert.isFalse(verdict(["a.org"], [], "xa.org", 443))
    assert.isFalse(verdict(["a.org"], [], "a.org.b.net", 443))
    assert.isTrue(verdict(["*.a.org"], [], "c.b.a.org", 443))
    assert.isFalse(verdict(["*.a.org"], [], "a.org", 443))
    assert.isFalse(verdict(["*.a.org"], [], "xa.org", 443))
    assert.isFalse(verdict(["*.a.org"], ["b.a.org"], "b.a.org", 443))
    assert.isFalse(verdict(["a.org"], ["a.org"], "a.org"))
    assert.isTrue(verdict(["a.org"], ["a.org:80"], "a.org", 443))
    assert.isFalse(verdict(["a.org"], ["a.org:80"], "a.org", 80))
    assert.isFalse(verdict(["a.org:80"], ["a.org:80"], "a.org"))
    assert.isTrue(verdict(["10.1.0.0/16"], [], "10.1.255.255", 443))
    assert.isFalse(verdict(["10.1.0.0/16"], [], "10.2.0.0", 443))
    assert.isFalse(verdict(["10.1.0.0/16"], ["10.1.2.3"], "10.1.2.3", 443))
    assert.isTrue(verdict(["localhost:5432"], [], "localhost", 5432))
    assert.isFalse(verdict(["localhost:5432"], [], "localhost", 80))
    assert.isTrue(verdict(["GET:a.org"], [], "a.org", 80))
    assert.isFalse(verdict(["GET:a.org"], [], "a.org", 443))
    assert.match(Either.merge(Either.map(read("GET:a.org", "denied"), String)), /denied whole/)
  })

  it("is told apart from a path by its form", () => {
    for (const host of [
      "example.com",
      "*.example.com",
      "example.com:8443",
      "localhost:5432",
      "10.0.0.0/8",
      "private:a:80",
      "GET:a"
    ])
      assert.isTrue(HostEntry.isLikely(host), host)
    for (const path of [
      "/a.b",
      "./a.b",
      "src",
      "a/b.c",
      "~/x",
      "..",
      ".env",
      "$HOME",
      "10.0.0.0/x",
      "*.pem",
      "package.json",
      "a/b.com"
    ])
      assert.isFalse(HostEntry.isLikely(path), path)
    assert.isTrue(HostEntry.isSame("Example.com.", "example.com"))
    assert.isFalse(HostEntry.isSame("example.com", "example.com:443"))
  })
})

describe("the addresses that a name may lie at", () => {
  const isReachable = HostEntry.makeAddressTest()

  it("may lie at a private address where any entry for it says so", () => {
    const allowed = rules("allowed", "a.test", "*.b.test", "private:a.test:443")
    const isPrivate = (port: number) => {
      const found = HostEntry.decide({ allowed, denied: [] }, "a.test", port)
      return found.allowed && found.rule.isPrivate
    }
    assert.deepStrictEqual([443, 80].map(isPrivate), [true, false])
  })

  it("are global ones, or those of a private network where the entry says so", () => {
    for (const address of ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111"]) {
      assert.isTrue(isReachable(address, false), address)
    }
    const reserved = "10.0.0.1 100.64.0.1 172.16.0.1 192.168.1.1 198.18.0.1 192.0.2.1 203.0.113.5 240.0.0.1 fd00::1"
    for (const address of [...reserved.split(" "), "2001:db8::1", "2002:7f00:1::", "2001::1", "4000::1"]) {
      assert.isFalse(isReachable(address, false), address)
      assert.isTrue(isReachable(address, true), address)
    }
    const never =
      "127.0.0.1 127.8.0.1 0.0.0.0 169.254.169.254 224.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8"
    for (const address of [
      ...never.split(" "),
      "64:ff9b::7f00:1",
      "fe80::1",
      "fe80::1%eth0",
      "ff02::1",
      "::8.8.8.8",
      "x"
    ]) {
      assert.isFalse(isReachable(address, false), address)
      assert.isFalse(isReachable(address, true), address)
    }
  })
})
