/** Against a real bash: nobody is there to answer, and nothing asks. */
import * as ChildProcess from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { assertKept, inSession, keeps, prepare, withSession } from "../support/Session.js"

const has = (program: string) => ChildProcess.spawnSync("sh", ["-c", `command -v ${program}`]).status === 0

/** A command that would ask ends with an error of its own. */
const refuses = (program: string, command: string) =>
  it.live.skipIf(!has(program))(
    `${program} ends without an answer`,
    () =>
      withSession((subject) =>
        Effect.gen(function* () {
          yield* prepare(subject)
          const { diagnostics, exitCode, stderr, stdout } = yield* subject.run(command)
          assert.notStrictEqual(exitCode, 0, stdout + stderr)
          assert.notStrictEqual(stderr, "")
          assert.strictEqual(diagnostics, undefined)
          yield* assertKept(subject)
        })
      ),
    60_000
  )

describe("prompts", () => {
  keeps("there is no terminal to open", [
    ["{ echo x > /dev/tty; } 2>/dev/null", { exitCode: 1 }],
    ["{ cat < /dev/tty; } 2>/dev/null", { exitCode: 1 }],
    ["tty", { stdout: "not a tty\n", exitCode: 1 }]
  ])

  keeps("read -s and read -p end at once, and say nothing", [
    ["read -s -p 'Password: ' secret; echo \"$? <$secret>\"", { stdout: "1 <>\n" }],
    ["read -e -n 1 key", { exitCode: 1 }]
  ])

  inSession("the environment keeps tools from asking", (subject) =>
    Effect.gen(function* () {
      const { stdout } = yield* subject.run(
        "printf '%s ' $GIT_TERMINAL_PROMPT $PAGER $GIT_PAGER $MANPAGER $DEBIAN_FRONTEND $PIP_NO_INPUT $SSH_ASKPASS_REQUIRE $TERM"
      )
      assert.strictEqual(stdout, "0 cat cat cat noninteractive 1 never dumb ")
    })
  )

  refuses("git", "git -c http.proxy= -c credential.helper= ls-remote https://user@127.0.0.1:1/none.git")
  refuses("ssh", "ssh -o ConnectTimeout=2 -o StrictHostKeyChecking=ask nobody@127.0.0.1 -p 1 true")
  refuses("sudo", "sudo -k; sudo -u '#12345' -p 'ask: ' nosuchprogram")
  refuses("su", "setpriv --reuid=65534 --clear-groups su root -c true 2>&1 >&2 || (echo refused >&2; exit 1)")
})
