/** The machine's own way to hosts: its name servers, and its connections. */
import * as Dns from "node:dns"
import * as Net from "node:net"
import * as Os from "node:os"
import * as Context from "effect/Context"
import * as HostEntry from "../policy/HostEntry.js"

/** Looks names up and connects, as the machine does. */
export interface Upstream {
  /** Returns the addresses of a name; fails where there are none. */
  readonly lookup: (name: string) => Promise<ReadonlyArray<string>>
  readonly connect: (address: string, port: number) => Net.Socket
  /** Tests whether a name may lie at an address; `isPrivate` where its entry says that it may be of a private network. */
  readonly isReachable: (address: string, isPrivate: boolean) => boolean
}

/** Tests whether an address is one of the machine's own, at any of its networks. */
const isOwn = (address: string): boolean =>
  Object.values(Os.networkInterfaces()).some((all) => all?.some((each) => each.address === address) === true)

/** Makes the machine's own way. Names never lead to the machine itself. */
export const make = (): Upstream => {
  const isHost = HostEntry.makeAddressTest()
  return {
    lookup: async (name) => (await Dns.promises.lookup(name, { all: true })).map(({ address }) => address),
    connect: (address, port) => Net.connect({ host: address, port, allowHalfOpen: true }),
    isReachable: (address, isPrivate) => !isOwn(address) && isHost(address, isPrivate)
  }
}

/** The way to hosts that sandboxes have; by default the machine's own. */
export class CurrentUpstream extends Context.Reference<CurrentUpstream>()("synapse/CurrentUpstream", {
  defaultValue: (): (() => Upstream) => make
}) {}
