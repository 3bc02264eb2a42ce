/**
 * Reads the entries that name hosts, and decides which hosts commands may reach. An entry is `host`, `*.host` for all
 * names below it, an address or CIDR block, or `localhost:port` for a server of the machine; each may end with a port.
 * `private:` before a name allows private addresses for it, and `GET,HEAD:` only these methods of plain HTTP.
 */
import * as Net from "node:net"
import * as Url from "node:url"
import * as Either from "effect/Either"
import type { RuleSource } from "./SandboxPolicy.js"

/** What an entry names. `machine` is a server on the machine's own localhost; `any` is every name. */
interface Meaning {
  readonly kind: "name" | "below" | "addresses" | "machine" | "any"
  /** The canonical name, or the first address of a block. */
  readonly host: string
  /** The length of a block's prefix, in bits. */
  readonly bits: number
  /** The ports. An empty list means 443 and 80 in an allow entry, and all ports in a deny entry. */
  readonly ports: ReadonlyArray<number>
  readonly isPrivate: boolean
  /** The methods of plain HTTP that are allowed. An empty list means any use of the host. */
  readonly methods: ReadonlyArray<string>
}

/** A rule for hosts, with the entry as written. */
export interface HostRule extends Meaning {
  readonly pattern: string
  readonly source: RuleSource
}

export interface Hosts {
  readonly allowed: ReadonlyArray<HostRule>
  readonly denied: ReadonlyArray<HostRule>
}

/** A decision on a host, with the rule that decided; no rule means that no entry names the host. */
export type HostVerdict =
  | { readonly allowed: true; readonly rule: HostRule }
  | { readonly allowed: false; readonly rule: HostRule | undefined; readonly reason: string }

/** The rule name for a host that no entry names. */
export const unnamed = "allowedHosts"

/** Why a server on the machine's localhost is not reached. */
export const notInside = "the machine has a server there, and inside, localhost is the sandbox's own"

/** The ports of an allow entry that names none. */
export const defaultPorts: ReadonlyArray<number> = [443, 80]

const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

/** Tests whether programs may read a name as an address, because its last label is a number in some notation. */
const isNumber = (name: string): boolean => /(?:^|\.)(?:\d+|0x[\da-f]*)$/.test(name)

/** The rule of `--allow-network`: any name that resolves to public addresses. No list entry can say this. */
export const anywhere: HostRule = {
  kind: "any",
  host: "",
  bits: 0,
  ports: [...defaultPorts, 22],
  isPrivate: false,
  methods: [],
  pattern: "public hosts",
  source: "user"
}

/** Returns a name's canonical form: lower case, ASCII, no trailing dot. Undefined if it is not a valid host name. */
export const canonical = (text: string): string | undefined => {
  if (!/^[\p{L}\p{M}\p{N}_.-]+$/u.test(text)) return undefined
  const name = Url.domainToASCII(text).replace(/\.$/, "")
  const isName = name !== "" && name.length <= 253 && name.split(".").every((each) => label.test(each))
  return isName && !isNumber(name) ? name : undefined
}

/**
 * Domains below which anyone can register a host. Only the usual ones: loading the full public list would take longer
 * than running a command.
 */
const shared = new Set(
  [
    "a.run.app app.github.dev appspot.com azureedge.net azurestaticapps.net azurewebsites.net blogspot.com cloudapp.net",
    "cloudfront.net ddns.net deno.dev deno.net devtunnels.ms duckdns.org firebaseapp.com fly.dev github.io",
    "githubusercontent.com gitlab.io glitch.me googleusercontent.com herokuapp.com hf.space lhr.life loca.lt netlify.app",
    "ngrok-free.app ngrok-free.dev ngrok.app ngrok.dev ngrok.io on.aws onrender.com pages.dev r.appspot.com replit.app",
    "replit.dev run.app streamlit.app supabase.co surge.sh trycloudflare.com up.railway.app vercel.app web.app workers.dev"
  ].flatMap((line) => line.split(" "))
)

/**
 * Domains below which anyone can register a host at any depth: cloud regions, and names that resolve to the address in
 * them.
 */
const throughout =
  /(?:^|\.)(?:amazonaws\.com|cloudapp\.azure\.com|windows\.net|(?:nip|sslip|xip)\.io|(?:lvh|localtest|traefik|vcap)\.me)$/

const suffix = /^(?:ac|co|com|edu|go|gob|gouv|gov|ltd|mil|ne|net|nom|or|org|plc)\.[a-z]{2}$/

const toNumber = (address: string): number => address.split(".").reduce((all, part) => all * 256 + Number(part), 0)

/** Returns why a block of addresses can't be allowed, if it can't. */
const refuseBlock = (host: string, bits: number): string | undefined => {
  if (bits < 8) return `it is wider than /8: name the networks`
  const [first, last] = [toNumber(host), toNumber(host) + 2 ** (32 - bits) - 1]
  const covers = (network: string, size: number) =>
    first < toNumber(network) + 2 ** (32 - size) && last >= toNumber(network)
  if (covers("127.0.0.0", 8) || covers("0.0.0.0", 8)) return "that is the machine itself: write localhost and the port"
  if (covers("169.254.0.0", 16)) return "such addresses hand out the machine's own credentials, in a cloud"
  return covers("224.0.0.0", 3) ? "it is no address of one host" : undefined
}

/** Returns why an entry can't be allowed, if it can't. */
const refuse = ({ bits, host, kind, methods, ports }: Meaning): string | undefined => {
  if (methods.length > 0 && (kind === "machine" || ports.includes(443)))
    return "methods are seen in plain HTTP to a host alone, and not at port 443 or localhost"
  if (kind === "addresses") {
    const isOpen = bits === 32 || ports.every((port) => port < 1024)
    return refuseBlock(host, bits) ?? (isOpen ? undefined : "ports from 1024 take single addresses")
  }
  if (kind !== "below") return undefined
  if (!host.includes(".") || suffix.test(host)) return `anybody can have a name below ${host}: name the host`
  return shared.has(host) || throughout.test(host) ? `anybody can have a host below ${host}: name the host` : undefined
}

const refuseForm = (entry: string): string | undefined => {
  if (/[a-z]:\/\/|[/?#@\\]/i.test(entry.replace(/\/\d+(?=:|$)/, "")))
    return "it is more than a host: write the name alone, as example.com or example.com:8443"
  if (/\s/.test(entry) || entry === "") return "it must be one word"
  if (/^(?:private:)?(?:[A-Z,]+:)?\*(?::|$)/.test(entry)) return "it names every host: name those that are needed"
  return /:\*$/.test(entry) ? "its port must be a number" : undefined
}

const meaningOf = (
  host: string,
  ports: ReadonlyArray<number>,
  { isPrivate, methods }: Pick<Meaning, "isPrivate" | "methods">
): Meaning | string => {
  const made = (kind: Meaning["kind"], name: string, bits = 32): Meaning => ({
    kind,
    host: name,
    bits,
    ports,
    isPrivate,
    methods
  })
  const [address = "", prefix] = host.split("/")
  if (Net.isIPv4(address)) {
    const bits = prefix === undefined ? 32 : Number(prefix)
    if (bits > 32) return "the prefix of an address has at most 32 bits"
    const base = toNumber(address) - (toNumber(address) % 2 ** (32 - bits))
    return made("addresses", [24, 16, 8, 0].map((shift) => Math.floor(base / 2 ** shift) % 256).join("."), bits)
  }
  if (host.includes(":") || host.startsWith("[")) return "it is an IPv6 address: write the name"
  const name = canonical(host.replace(/^\*\./, ""))
  if (name === undefined) return "it is no name of a host, and no address in its usual form"
  if (name !== "localhost") return made(host.startsWith("*.") ? "below" : "name", name)
  return ports.length === 0 ? "give the port of the machine's server, as localhost:5432" : made("machine", name)
}

const method = "(?:GET|HEAD|OPTIONS|POST|PUT|PATCH|DELETE)"
/** The parts of an entry: `private:`, methods, the host, and the port. A mark before digits alone is a host. */
const parts = new RegExp(`^(private:(?!\\d*$))?(?:(${method}(?:,${method})*):(?!\\d*$))?(.*?)(?::(\\d+))?$`)

/** Parses an entry. The left value says why it can't be on the list. */
export const parse = (entry: string, list: "allowed" | "denied"): Either.Either<Meaning, string> => {
  const flaw = refuseForm(entry)
  if (flaw !== undefined) return Either.left(flaw)
  const [, mark, listed, host = "", port] = parts.exec(entry) ?? []
  const isPort = port === undefined || (/^[1-9]\d{0,4}$/.test(port) && Number(port) < 65_536)
  if (!isPort) return Either.left("a port is a number from 1 to 65535")
  const methods = listed?.split(",") ?? []
  const meaning = meaningOf(host, port === undefined ? [] : [Number(port)], { isPrivate: mark !== undefined, methods })
  if (typeof meaning === "string") return Either.left(meaning)
  if (methods.length > 0 && list === "denied")
    return Either.left("a denied host is denied whole: leave the methods out")
  const refused = list === "allowed" ? refuse(meaning) : undefined
  return refused === undefined ? Either.right(meaning) : Either.left(refused)
}

/** Tests whether two entries have the same meaning. */
export const isSame = (one: string, other: string): boolean => {
  const [a, b] = [one, other].map((entry) => JSON.stringify(Either.getOrUndefined(parse(entry, "denied"))))
  return one === other || (a !== undefined && a === b)
}

/** Matches top-level domains that file names seldom end with. */
const domain = /\.(?:ai|app|cloud|com|dev|edu|gov|internal|io|net|org)$/i

/** Tests whether a text has the form of a host rather than a path: a port, an address, or a usual domain. */
export const isLikely = (text: string): boolean => {
  const [, mark, methods, host = "", port] = parts.exec(text) ?? []
  return (
    /^(?:[^/~.$][^/~$]*|[\d.]+\/\d+)$/.test(host) &&
    (mark !== undefined ||
      methods !== undefined ||
      port !== undefined ||
      host === "localhost" ||
      domain.test(host) ||
      /^\d+(?:\.\d+){3}(?:\/\d+)?$/.test(host))
  )
}

/** Formats an entry as an argument of `synapse sandbox allow`. */
export const toArgument = (entry: string): string => (isLikely(entry) ? entry : `--host ${entry}`)

const isWithin = ({ bits, host, kind }: Meaning, name: string): boolean => {
  if (kind === "any") return name !== "localhost" && canonical(name) === name
  if (kind === "below") return name.endsWith(`.${host}`)
  if (kind !== "addresses") return name === host
  const size = 2 ** (32 - bits)
  return Net.isIPv4(name) && Math.floor(toNumber(name) / size) === Math.floor(toNumber(host) / size)
}

const portsOf = ({ methods, ports }: Pick<Meaning, "methods" | "ports">): ReadonlyArray<number> =>
  ports.length > 0 ? ports : methods.length > 0 ? [80] : defaultPorts

/**
 * Decides on a host by its canonical name or address. Deny entries win.
 *
 * @param port undefined if only the name is known; one allowed port is then enough
 * @param use the method of a request in plain HTTP, or `any` for what no method limits; undefined if it is not known
 */
export const decide = ({ allowed, denied }: Hosts, host: string, port?: number, use?: string): HostVerdict => {
  const isDenied = (at: number | undefined) =>
    denied.find(
      (rule) => isWithin(rule, host) && (rule.ports.length === 0 || (at !== undefined && rule.ports.includes(at)))
    )
  const deny = (rule: HostRule): HostVerdict => ({ allowed: false, rule, reason: "on the list of denied hosts" })
  const all = isDenied(port)
  if (all !== undefined) return deny(all)
  const named = allowed.filter((rule) => isWithin(rule, host))
  const fitting = named.filter((each) => {
    const ports = portsOf(each)
    return port === undefined ? ports.some((at) => isDenied(at) === undefined) : ports.includes(port)
  })
  const useful = fitting.filter(({ methods }) => use === undefined || methods.length === 0 || methods.includes(use))
  const rule = useful.find(({ isPrivate }) => isPrivate) ?? useful[0]
  if (rule !== undefined) return { allowed: true, rule }
  const [limited] = fitting
  const [other] = named
  if (limited !== undefined) {
    const reason = `${limited.pattern} allows ${limited.methods.join(" and ")} alone`
    return { allowed: false, rule: undefined, reason }
  }
  const reason =
    other === undefined || port === undefined
      ? "no entry names it"
      : `${other.pattern} allows ${portsOf(other).length === 1 ? "port" : "ports"} ${portsOf(other).join(" and ")}, and not ${port}`
  return { allowed: false, rule: undefined, reason }
}

/** Returns the narrowest entry that would allow a host at a port. */
export const grantFor = (host: string, port: number | undefined, isPrivate = false): string =>
  `${isPrivate ? "private:" : ""}${port === undefined ? host : `${host}:${port}`}`

const blockList = (subnets: string): Net.BlockList => {
  const list = new Net.BlockList()
  for (const subnet of subnets.split(" ")) {
    const [address = "", bits] = subnet.split("/")
    list.addSubnet(address, Number(bits), Net.isIPv4(address) ? "ipv4" : "ipv6")
  }
  return list
}

/** Addresses that no entry can open: the machine itself, link-local, multicast and broadcast. */
const never = {
  ipv4: "0.0.0.0/8 127.0.0.0/8 169.254.0.0/16 224.0.0.0/4 255.255.255.255/32",
  ipv6: "::/96 ::ffff:0:0/96 64:ff9b::/32 fe80::/10 fec0::/10 ff00::/8"
}

/** Addresses of private networks, and reserved ones. */
const reserved = {
  ipv4: "10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4",
  ipv6: "::/3 4000::/2 8000::/1 2001::/23 2001:db8::/32 2002::/16 3fff::/20"
}

/** Makes the test for addresses that names may resolve to: public ones, and private ones if `isPrivate`. */
export const makeAddressTest = (): ((address: string, isPrivate: boolean) => boolean) => {
  // One list per family: an IPv6 block that stands for IPv4 would match all of IPv4.
  const lists = (["ipv4", "ipv6"] as const).map(
    (family) => [family, blockList(never[family]), blockList(reserved[family])] as const
  )
  return (address, isPrivate) => {
    const kind = Net.isIPv4(address) ? "ipv4" : Net.isIPv6(address) && !address.includes("%") ? "ipv6" : undefined
    const [family, closed, special] = lists.find(([each]) => each === kind) ?? []
    if (family === undefined || closed?.check(address, family) !== false) return false
    return isPrivate || special?.check(address, family) === false
  }
}
