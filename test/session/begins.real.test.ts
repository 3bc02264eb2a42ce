/** Against a real bash: every command runs once, whatever another has done to what tells that it begins and ends. */
import * as Fs from "node:fs"
import { assert, describe } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { inSession, result, type Subject } from "../support/Session.js"

const session = '"$TMPDIR"/synapse-*/session-*'

/** Runs each command behind one that counts it, and returns the counts. */
const counted = ({ directory, run }: Subject, commands: ReadonlyArray<string>) =>
  Effect.forEach(commands, (command, at) => {
    const log = `${directory}/count-${at}`
    return Effect.map(Effect.exit(run(`echo x >>${log}\n${command}`)), () =>
      Fs.existsSync(log) ? Fs.readFileSync(log, "utf8").split("x").length - 1 : 0
    )
  })

const commands = ["true", "false", "sleep .02; echo late", "echo a | cat", "exit 3", "nosuch", "kill -9 $$"]

const hindrances: Readonly<Record<string, string>> = {
  "nothing is amiss": ":",
  "all variables are unset": "for name in $(compgen -v); do unset $name; done 2>/dev/null",
  "a pipe was deleted": `rm ${session}/not-found`,
  "a file lies in the place of a pipe": `pipe=$(echo ${session}/not-found); rm $pipe; touch $pipe`,
  "a pipe is full": `pipe=$(echo ${session}/not-found); head -c 200000 /dev/zero 1<>$pipe >$pipe & sleep .05`,
  "others read a pipe": `for i in 1 2 3 4; do cat ${session}/not-found >/dev/null & done; sleep .05`,
  "printf is disabled": "enable -n printf",
  "few files may be opened": "ulimit -n 40"
}

describe("commands", () => {
  for (const [name, hindrance] of Object.entries(hindrances)) {
    inSession(`each runs once where ${name}`, (subject) =>
      Effect.gen(function* () {
        yield* subject.run(hindrance)
        assert.deepStrictEqual(
          yield* counted(subject, commands),
          commands.map(() => 1)
        )
        yield* subject.session.restart
        assert.deepStrictEqual(yield* subject.run("echo on"), result({ stdout: "on\n" }))
      })
    )
  }
})
