import { assert, describe, it } from "@effect/vitest"
import * as HelpText from "../../src/cli/HelpText.js"

const help = `\x1b[1msynapse\x1b[0m

synapse 0.1.0

\x1b[1mUSAGE\x1b[0m

$ synapse exec [--ask never | terminal] <command>

DESCRIPTION

Run a command.

ARGUMENTS

<command>

  A user-defined piece of text.

  The command line, ${"in one argument, ".repeat(8)}as it is.

OPTIONS

[--allow path]...

  A user-defined piece of text.

  A path.

  This option may be repeated zero or more times.

--wizard

  A true or false value.

  Start wizard mode for a command.

--version

  A true or false value.

  Show the version.

(-h, --help)

  A true or false value.

  Show the help.

COMMANDS

  - exec [--ask never | terminal] <command>      Run a command.

  - mcp add [-e, --env name=value]... <name>     Add a server.

  - mcp`

describe("HelpText", () => {
  it("says of each option and command what it does, and nothing that is so of all", () => {
    assert.strictEqual(
      HelpText.layOut(help, false),
      `synapse 0.1.0

USAGE
  synapse exec [--ask never | terminal] <command>

DESCRIPTION
  Run a command.

ARGUMENTS
  <command>
      The command line, in one argument, in one argument, in one argument, in
      one argument, in one argument, in one argument, in one argument, in one
      argument, as it is.

OPTIONS
  [--allow path]...
      A path.
  -h, --help
      Show the help.

COMMANDS
  exec     Run a command.
  mcp add  Add a server.

synapse <command> --help tells what a command takes.`
    )
  })

  it("names the program's own options in its own help", () => {
    assert.include(HelpText.layOut(help, true), "  --version\n      Show the version.")
    assert.include(HelpText.layOut(help, true), "USAGE\n  synapse <command> [<words>...]")
  })
})
