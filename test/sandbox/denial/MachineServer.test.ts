import { assert, describe, it } from "@effect/vitest"
import * as Denial from "../../../src/sandbox/denial/Denial.js"

describe("a server of the machine that was looked for inside", () => {
  const find = (command: string, said: string, exitCode = 1) =>
    Denial.findMachineServer(command, said, exitCode, () => new Set([5432, 3000]))

  it("is found by the words of programs", () => {
    assert.strictEqual(
      find("x", "curl: (7) Failed to connect to localhost port 3000 after 0 ms: Couldn't connect to server"),
      3000
    )
    assert.strictEqual(find("x", "Error: connect ECONNREFUSED 127.0.0.1:5432"), 5432)
    assert.strictEqual(find("x", "Error: connect ECONNREFUSED ::1:5432"), 5432)
    assert.strictEqual(
      find(
        `python3 -c 'create_connection(("127.0.0.1", 5432))'`,
        "ConnectionRefusedError: [Errno 111] Connection refused"
      ),
      5432
    )
    assert.strictEqual(
      find("x", 'connection to server at "localhost" (::1), port 1 failed: Connection refused'),
      undefined
    )
  })

  for (const [command, said, exitCode] of [
    ["psql", 'connection to server at "localhost" (127.0.0.1), port 3000 failed: Connection refused', 2],
    ["x", "bash: line 1: /dev/tcp/127.0.0.1/3000: Connection refused", 1],
    ["curl http://0.0.0.0:3000", "curl: (7) Failed to connect to 0.0.0.0 port 3000: Couldn't connect to server", 7],
    ["curl -s 'http://[::1]:3000/'", "", 7],
    ["wget -qO- localhost:3000", "", 4]
  ] as const) {
    it(`is found for ${command}: ${said}`, () => assert.strictEqual(find(command, said, exitCode), 3000))
  }

  it("is none where nothing was refused, another host was, or nothing listens", () => {
    assert.isUndefined(find("curl localhost:5432", "curl: (52) Empty reply from server"))
    assert.isUndefined(find("curl -sf localhost:3000", "", 22))
    assert.isUndefined(find("x", "connect ECONNREFUSED 10.0.0.1:5432"))
    assert.isUndefined(find("x", "connect ECONNREFUSED 127.0.0.1:9999"))
  })
})
