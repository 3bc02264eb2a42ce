import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../../src/bash/CommandLine.js"
import type { Denial } from "../../../src/sandbox/denial/Denial.js"
import * as Preflight from "../../../src/sandbox/denial/Preflight.js"
import { path, type World, withWorld } from "../../support/denial/World.js"

/** The rule that a command is blocked by, with its world's own directory as HOME. */
const inWorld = <A>(body: (rule: (command: string) => string | undefined, world: World) => A) =>
  withWorld((world) => {
    const preflight = Preflight.make(world.policy)
    const ruleOf = (command: string) =>
      preflight(CommandLine.parse(command), { cwd: world.project, home: world.home })[0]?.rule
    return body((command) => ruleOf(command.replaceAll("ROOT", world.root)), world)
  })

const rules = (rows: ReadonlyArray<readonly [command: string, rule: string | undefined]>) => () =>
  inWorld((rule) =>
    assert.deepStrictEqual(
      rows.map(([command]) => [command, rule(command)]),
      rows.map(([command, rule]) => [command, rule])
    )
  )

const blocks = (by: string, commands: ReadonlyArray<string>) => rules(commands.map((command) => [command, by]))
const passes = (commands: ReadonlyArray<string>) => rules(commands.map((command) => [command, undefined]))

describe("preflight", () => {
  it("S64: a path that is white- and blacklisted is blocked", () =>
    withWorld(({ policy, project }) => {
      const both = { ...policy, whitelist: [...policy.whitelist, path(`${project}/vault`)] }
      const expected: Denial = {
        resource: `${project}/vault/key.pem`,
        access: "read",
        rule: `${project}/vault`,
        source: "file",
        reason: "on the blacklist (sandbox.json)",
        how: "preflight"
      }
      assert.deepStrictEqual(Preflight.make(both)(CommandLine.parse("cat vault/key.pem"), { cwd: project }), [expected])
    }))

  it("finds all that a list would meet, as far as it is sure to run", () =>
    inWorld((_, { home, policy, project }) => {
      const rulesOf = (command: string) =>
        Preflight.make(policy)(CommandLine.parse(command), { cwd: project, home }).map(({ rule }) =>
          rule.replace(project, "")
        )
      assert.deepStrictEqual(rulesOf("cat ~/.ssh/id_rsa vault/key.pem; echo x; cat .env"), [
        "~/.ssh",
        "/vault",
        "**/.env"
      ])
      assert.deepStrictEqual(rulesOf("bash -c 'cat .env; cat vault/key.pem' | cat; cat ~/.ssh/id_rsa"), [
        "**/.env",
        "/vault",
        "~/.ssh"
      ])
      assert.deepStrictEqual(rulesOf("cat .env && cat ~/.ssh/id_rsa"), ["**/.env"])
      assert.deepStrictEqual(rulesOf("cat .env; if true; then cat ~/.ssh/id_rsa; fi"), ["**/.env"])
    }))

  it("S65: looks into bash -c, and needs no file to be there", () =>
    inWorld((_, { policy }) => {
      const [denial] = Preflight.make(policy)(CommandLine.parse('bash -c "cat /home/.ssh/id_rsa"'), { cwd: "/" })
      assert.deepStrictEqual([denial?.rule, denial?.resource], ["/home/.ssh", "/home/.ssh/id_rsa"])
    }))

  it(
    "knows what commands do with their operands",
    blocks("~/.ssh", [
      "cat ~/.ssh/id_rsa",
      "cat -- ~/.ssh/id_rsa",
      "cat -An a.txt ~/.ssh/id_rsa",
      "head -n 5 ~/.ssh/id_rsa",
      "tail -n5 ~/.ssh/id_rsa",
      "grep -r ssh ~/.ssh",
      "cp ~/.ssh/id_rsa .",
      "cp a.txt ~/.ssh/",
      "mv a.txt ~/.ssh/",
      "rm -rf ~/.ssh",
      "source ~/.ssh/id_rsa",
      ". ~/.ssh/id_rsa",
      "touch ~/.ssh/new",
      "tee -a ~/.ssh/authorized_keys",
      "ls ~/.ssh",
      "\\cat ~/.ssh/id_rsa",
      "c'a't ~/.ssh/id_rsa",
      "true;cat\t~/.ssh/id_rsa"
    ])
  )

  it(
    "reads a word as bash does",
    blocks("~/.ssh", [
      "cat ~/'.ssh'/id_rsa",
      "cat ROOT/home/'.ssh'/id_rsa",
      "cat ROOT/home/.s\\sh/id_rsa",
      "cat ../home/.ssh/id_rsa",
      "cat keys/id_rsa",
      "cat away/../../home/.ssh/../.ssh/id_rsa",
      "cat $'\\x2e\\x2e/home/.ssh/id_rsa'"
    ])
  )

  it(
    "knows redirections, whatever the command",
    blocks("**/.env", [
      "unknown < .env",
      "unknown <.env",
      "echo x > .env",
      "echo x >> sub/.env",
      "echo x >| .env",
      "echo x &> .env",
      "unknown 2> .env",
      "unknown 3<> .env",
      "exec 3< .env",
      "< .env",
      "cat <<E > .env\nx\nE",
      "echo x > new/.env",
      "cat < link"
    ])
  )

  it(
    "looks into bash -c, pipelines and plain lists",
    blocks("**/.env", [
      "a.sh; cat .env",
      "cat .env || true",
      "cat a.txt | grep x .env",
      "cd ROOT/project/sub && cat .env",
      "cd ./sub; cat .env",
      "bash -c 'bash -c \"cat .env\"'",
      "A=1 cat .env",
      "sh -ec 'cat .env'",
      "true && cat .env",
      "echo a\ncat .env",
      "echo a & cat .env",
      "cd / | cat .env"
    ])
  )

  it(
    "lets everything run that is not sure to be denied",
    passes([
      'echo "see ~/.ssh"',
      "echo ~/.ssh .env",
      "printf %s .env",
      "git commit -m 'ignore .env'",
      "git add .gitignore",
      'grep -r "\\.env" src',
      "grep -rn .env src",
      "grep -e .env src/main.py",
      "rg .env src",
      "sed 's/.env/x/' a.txt",
      "awk '/.env/' a.txt",
      "ls",
      "ls -la .",
      "ls ..",
      "ls -la .env",
      "ls -I .env",
      "ls -d sub",
      "test -e .env",
      "[ -f ~/.ssh/id_rsa ]",
      "stat .env",
      "find . -name .env",
      "tar czf x.tgz --exclude .env src",
      "tar --exclude=.env -cf x.tar src",
      "tar xf a.tar .env",
      "rsync --exclude .env a b",
      "tar -C / -cf x .env",
      "zip x.zip a.txt -x .env",
      "ln -s ~/.ssh/id_rsa x",
      "cat a.txt",
      "cat *.txt",
      "cat .env.example",
      "cat missing/.env",
      "rm -rf sub2",
      "python3 -c 'open(\".env\")'",
      "python3 src/main.py .env",
      "node -e 1 .env",
      "bash run.sh .env",
      "docker run --env-file .env x",
      "ssh host cat .env",
      "# cat .env",
      "cat '~/.ssh/id_rsa'",
      "cat '$HOME/.ssh/id_rsa'",
      "cat $UNKNOWN/.env",
      "cat ~other/.ssh/id_rsa",
      "cat <<E\n.env\nE",
      "cat <<< .env",
      "echo x >&2",
      "echo '> .env'"
    ])
  )

  it(
    "stops where it is not sure what runs, or where",
    passes([
      "true || cat .env",
      "[ -f .env ] && source .env; npm test",
      "test -r .env && cat .env && echo done",
      "[[ -f .env ]] && cat .env",
      "[[ a > .env ]]",
      "(( 1 > .env ))",
      "if false; then cat .env; fi",
      "for f in a; do cat .env; done",
      "while false; do cat .env; done",
      "case x in y) cat .env;; esac",
      "f() { cat .env; }",
      "function f { cat .env; }",
      "exit; cat .env",
      "[ -f x ] || exit; cat .env",
      "cd $UNKNOWN && cat link",
      "cd nowhere; cat link",
      "source a.txt; cat link",
      "HOME=/x; cat ~/.ssh/id_rsa",
      "export HOME=/x; cat $HOME/.ssh/id_rsa",
      "sudo bash -c 'cat $HOME/.ssh/id_rsa'",
      "env -C /tmp cat link",
      "grep $OPTIONS .env src",
      "cat '.env",
      "xargs cat"
    ])
  )

  it(
    "leaves to the kernel what it can't be sure of from the words alone",
    passes([
      // What may take a link for itself, or leave a file alone.
      "rm link",
      "mv link x",
      "cp -r keys x",
      "ls -l keys",
      "mv -n a.txt .env",
      "cp -u a.txt .env",
      "rm -i .env",
      "grep -q x a.txt .env",
      "rm -f missing/.env",
      "touch -c missing/.env",
      // What may not run, or elsewhere.
      "npm test && cat .env",
      "cd sub && cat .env",
      "cd away; cat .env",
      "cd keys/.. && cat .env",
      "cd ./missing && cat .env",
      "source a.txt; cat .env",
      "exec cat a.txt; cat .env",
      "(cat .env)",
      "$RUN; cat .env",
      "cat .env )",
      "time [[ a > .env ]]",
      // Words that hold more than a name, options that are not known, other commands.
      'cat "$HOME/.ssh/id_rsa"',
      "cat ~/.ssh/*",
      "cat --show-all .env",
      "sed -n 1p .env",
      "sudo cat .env",
      "eval 'cat .env'",
      "echo $(cat .env)"
    ])
  )

  it("says whether it would have been read or written", () =>
    inWorld((_, { policy, project }) => {
      const access = (command: string) =>
        Preflight.make(policy)(CommandLine.parse(command), { cwd: project })[0]?.access
      assert.deepStrictEqual(
        ["cat .env", "rm .env", "cp a.txt .env", "cp .env b", "echo > .env", "ls vault"].map(access),
        ["read", "write", "write", "read", "write", "read"]
      )
    }))

  it("survives any text", () =>
    inWorld((rule) => {
      const parts = [
        "cat ",
        ".env",
        "cat .env",
        ";",
        "$(",
        ")",
        "`",
        "'",
        '"',
        "\\",
        "\n",
        "<<",
        "bash -c ",
        "(",
        "{",
        "&&",
        "~",
        "$HOME",
        "[["
      ]
      let denied = 0
      for (let seed = 1; seed < 3000; seed++) {
        let state = seed * 2654435761
        const text = Array.from({ length: 12 }, () => {
          state = (state * 1103515245 + 12345) % 2147483648
          return parts[Math.floor((state / 2147483648) * parts.length)]
        }).join("")
        const found = rule(text)
        assert.include([undefined, "**/.env"], found, text)
        if (found !== undefined) denied++
      }
      assert.isAbove(denied, 0)
    }))
})
