/** The slots in which callers talk to the bridge. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import { assert, it } from "@effect/vitest"
import * as CallServer from "../../src/bridge/internal/CallServer.js"
import * as Stub from "../../src/bridge/internal/Stub.js"
import * as Fifo from "../../src/session/Fifo.js"
import { SessionDirectory } from "../../src/session/SessionDirectory.js"
import * as SessionSettings from "../../src/session/SessionSettings.js"
import * as Temporary from "../support/Temporary.js"

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1))
}

it("a slot that a process of its last call still holds takes no call, whoever asks", () =>
  Temporary.using(async (root) => {
    const directory = new SessionDirectory(crypto.randomUUID(), {
      ...SessionSettings.defaults,
      privateDirectories: [Path.join(root, "own")]
    })
    const bridge = CallServer.make({
      callable: () => ({ names: [], prefixed: [] }),
      run: () => {},
      takeCalls: () => CallServer.noCalls
    })
    await Fifo.makeFifos(bridge.fifos(directory.path))
    const server = bridge.open(directory, () => assert.fail("no request is made"))
    const hold = (channel: (typeof Stub.channels)[number]) =>
      Fifo.openBoth(Stub.channelPath(directory.path, "0", channel))
    const ask = () => Fs.writeFileSync(Path.join(directory.path, Stub.names.calls), "0")
    const left = hold("input")
    const caller = hold("ask")
    ask()
    await until(() => server.isBusy)
    Fs.closeSync(caller)
    await until(() => !server.isBusy)
    const next = hold("ask")
    ask()
    await new Promise((resolve) => setTimeout(resolve, 50))
    assert.isFalse(server.isBusy)
    for (const fd of [left, next]) Fs.closeSync(fd)
    server.tidy()
    const last = hold("ask")
    ask()
    await until(() => server.isBusy)
    Fs.closeSync(last)
    server.close()
    directory.remove(false)
  }))
