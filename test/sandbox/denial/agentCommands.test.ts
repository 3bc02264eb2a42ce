/** `read`, `write` and `edit`: an agent's own commands, wherever they stand in a line. */
import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../../src/bash/CommandLine.js"
import * as Attribution from "../../../src/sandbox/denial/Attribution.js"
import * as Preflight from "../../../src/sandbox/denial/Preflight.js"
import { withWorld } from "../../support/denial/World.js"

const found = (commands: ReadonlyArray<string>) =>
  withWorld(({ home, policy, project, root }) => {
    const preflight = Preflight.make(policy)
    return commands.map((command) => {
      const [denial] = preflight(CommandLine.parse(command.replaceAll("ROOT", root)), { cwd: project, home })
      return [command, denial?.rule, denial?.access]
    })
  })

const blocks = (access: "read" | "write", by: string, commands: ReadonlyArray<string>) => async () =>
  assert.deepStrictEqual(
    await found(commands),
    commands.map((command) => [command, by, access])
  )

const passes = (commands: ReadonlyArray<string>) => async () =>
  assert.deepStrictEqual(
    await found(commands),
    commands.map((command) => [command, undefined, undefined])
  )

describe("an agent's commands before they run", () => {
  it(
    "S64: read opens its first operand",
    blocks("read", "~/.ssh", [
      "read ~/.ssh/id_rsa",
      "read -- ~/.ssh/id_rsa",
      "read --offset 3 --limit 1 ~/.ssh/id_rsa",
      "read ~/.ssh/id_rsa --limit=1",
      "read ROOT/home/.ssh/id_rsa | head -1",
      "cd ROOT && read home/.ssh/id_rsa"
    ])
  )

  it(
    "S64: write and edit open their first operand to write it",
    blocks("write", "**/.env", [
      "write .env x",
      "write sub/.env 'a b'",
      "write -- .env x",
      "echo x && write .env x",
      "write .env <<E\nx\nE",
      "edit .env a b",
      "edit --all .env a b",
      "edit .env a b --all"
    ])
  )

  it(
    "takes no text for a path",
    passes([
      'write notes.md "see ~/.ssh"',
      "write notes.md ~/.ssh/id_rsa",
      "write notes.md .env",
      "edit a.txt ~/.ssh x",
      "edit a.txt .env ~/.ssh/id_rsa --all",
      "write $FILE .env",
      "write 'notes.md' 'cat ~/.ssh/id_rsa'",
      "read a.txt .env"
    ])
  )

  it(
    "leaves bash its own read",
    passes([
      "read x",
      "read -r x",
      "read -r keys",
      "read keys",
      "read keys --limit 2",
      "read",
      "read -p ~/.ssh/id_rsa answer",
      "read -d . -r a b",
      "read -ra words <<< 'a b'",
      "read $NAMES",
      "while read -r line; do echo $line; done",
      "echo .env | read .env_",
      "builtin read -r x"
    ])
  )
})

const tool = CommandLine.parse("tool")

describe("what an agent's commands say when they were denied", () => {
  it("S66: is traced to the rule", () =>
    withWorld(({ home, policy, project, root }) => {
      const attribute = Attribution.make(policy)
      const named = (stderr: string) =>
        attribute({ command: tool, directories: [project], masks: [], stderr: stderr.replaceAll("ROOT", root) }).map(
          ({ access, how, resource, rule }) => [access, rule, resource, how]
        )
      const how = "verified-text"
      const key = `${home}/.ssh/id_rsa`
      assert.deepStrictEqual(
        [
          "read: ROOT/home/.ssh/id_rsa: Permission denied",
          "write: ROOT/project/.env: Permission denied",
          "edit: ROOT/project/.env: Permission denied",
          "write: ROOT/elsewhere/new: Read-only file system",
          "write: ROOT/elsewhere/a b: c/new: Read-only file system",
          "edit: ROOT/elsewhere/readable.txt: Read-only file system",
          "read: ROOT/project/a b/it's.key: Permission denied",
          "read: ROOT/project/n\nl.key: Permission denied",
          "edit: ROOT/project/vault: Device or resource busy"
        ].map(named),
        [
          [["read", "~/.ssh", key, how]],
          [["write", "**/.env", `${project}/.env`, how]],
          [["write", "**/.env", `${project}/.env`, how]],
          [["write", "not whitelisted", `${root}/elsewhere/new`, how]],
          [["write", "not whitelisted", `${root}/elsewhere/a b: c/new`, how]],
          [["write", "not whitelisted", `${root}/elsewhere/readable.txt`, how]],
          [["read", "**/*.key", `${project}/a b/it's.key`, how]],
          [["read", "**/*.key", `${project}/n\nl.key`, how]],
          [["write", `${project}/vault`, `${project}/vault`, how]]
        ]
      )
    }))

  it("is no denial where the policy has no part in it", () =>
    withWorld(({ policy, project }) => {
      const attribute = Attribution.make(policy)
      for (const stderr of [
        `read: ${project}/own: Permission denied`,
        `write: ${project}/a.txt: Read-only file system`,
        `edit: ${project}/own: Operation not permitted`,
        `read: ${project}/.env: No such file or directory`,
        "bash: line 1: read: `a.b': not a valid identifier"
      ]) {
        assert.deepStrictEqual(attribute({ command: tool, directories: [project], masks: [], stderr }), [], stderr)
      }
    }))
})
