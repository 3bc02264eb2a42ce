import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../../src/bash/CommandLine.js"
import * as Attribution from "../../../src/sandbox/denial/Attribution.js"
import * as Denial from "../../../src/sandbox/denial/Denial.js"
import * as Preflight from "../../../src/sandbox/denial/Preflight.js"
import { masksOf } from "../../support/denial/Bubblewrap.js"
import { denied, harmless, harmlessToUsers, messages } from "../../support/denial/Corpus.js"
import { recorded } from "../../support/denial/Fixture.js"
import { path, type World, withWorld } from "../../support/denial/World.js"

type Told = Partial<Omit<Attribution.Outcome, "command">> & { readonly command?: string }

const attribute = (world: World, stderr: string, { command = "tool", ...more }: Told = {}) =>
  Attribution.make(world.policy)({
    command: CommandLine.parse(command),
    directories: [world.project],
    masks: masksOf(world),
    stderr,
    ...more
  })

const names = (denials: ReadonlyArray<Denial.Denial>, { root }: World) =>
  denials.map(({ resource, rule }) => [rule.replace(root, "ROOT"), resource.replace(root, "")])

describe("attribution", () => {
  it("names what rm was to remove as a whole, and not each directory in it", () =>
    withWorld((world) => {
      const away = `${world.root}/away`
      const told = (command: string) => {
        const paths = ["a/x", "b/c/x"]
        for (const path of paths) Fs.mkdirSync(`${away}/${path}`, { recursive: true })
        const said = paths.map((path) => `rm: cannot remove '../away/${path}': Read-only file system\n`).join("")
        return attribute(world, said, { command }).map(({ next, resource }) => [resource.replace(away, ""), next])
      }
      assert.deepStrictEqual(told("rm -rf ../away"), [["", "Ask the user to do it."]])
      assert.deepStrictEqual(told("rm -r ../away/a ../away/b"), [["", undefined]])
    }))

  it("S66: names the rule, the resource, the reason and how it is known", () =>
    withWorld((world) =>
      assert.deepStrictEqual(attribute(world, "cat: .env: Permission denied\n"), [
        {
          resource: `${world.project}/.env`,
          access: "read",
          rule: "**/.env",
          source: "default",
          reason: "on the blacklist (built in)",
          how: "verified-text"
        }
      ])
    ))

  it("names what programs said in a sandbox when it was recorded", () =>
    withWorld((world) => {
      const expand = (text: string) => text.replaceAll("ROOT", world.root)
      const all = recorded().map(({ command, directory, resource, rule, text }) => ({
        text,
        seen: names(
          attribute(world, expand(text), {
            command: expand(command),
            directories: [expand(directory), world.project]
          }),
          world
        ),
        expected: [[rule, resource]]
      }))
      assert.deepStrictEqual(
        all.map(({ seen, text }) => [text, seen]),
        all.map(({ expected, text }) => [text, expected])
      )
    }))

  it("names what is hidden where a program calls it missing", () =>
    withWorld((world) => {
      const { home, project, root } = world
      for (const [said, path] of [
        [`error: Couldn't load public key ${home}/.ssh/id_rsa: No such file or directory?`, "/home/.ssh/id_rsa"],
        [`x: ${project}/vault/key.pem not found`, "/project/vault/key.pem"],
        [`Error: cannot find ${project}/.env`, "/project/.env"]
      ] as const) {
        assert.deepStrictEqual(
          names(attribute(world, said), world).map(([, resource]) => resource),
          [path],
          said
        )
      }
      const asIs = (command: string, said: string) =>
        names(attribute(world, said, { command }), world).map(([, resource]) => resource)
      assert.deepStrictEqual(asIs("node --env-file=.env a.js", "node: .env: not found\n"), ["/project/.env"])
      assert.deepStrictEqual(asIs("x --file sub/.env", "cannot open sub/.env\n"), ["/project/sub/.env"])
      assert.deepStrictEqual(asIs("x --file none/.env", "cannot open none/.env\n"), [])
      assert.deepStrictEqual(asIs("x --file .env", "no such file: a.txt\n"), [])
      for (const said of [
        `x: ${home}/.ssh/none: No such file or directory`,
        `x: ${root}/elsewhere/readable.txt not found`,
        `x: ${project}/a.txt: No such file or directory`
      ]) {
        assert.deepStrictEqual(attribute(world, said), [], said)
      }
    }))

  it("takes a path with blanks whole, where its directory is there", () =>
    withWorld((world) => {
      const { root } = world
      for (const name of ["a project", "a project dir/Crash Reports", "a", "for"]) {
        Fs.mkdirSync(`${root}/elsewhere/${name}`, { recursive: true })
      }
      for (const [said, path] of [
        [`mkdir ${root}/elsewhere/a project/p: Read-only file system`, "a project/p"],
        [
          `[1:ERROR:x.cc(63)] mkdir ${root}/elsewhere/a project dir/pending: Read-only file system (30)`,
          "a project dir/pending"
        ],
        [
          `x: mkdir ${root}/elsewhere/a project dir/Crash Reports/new one: Read-only file system`,
          "a project dir/Crash Reports/new"
        ],
        [`Read-only file system (os error 30): cannot open ${root}/elsewhere/a project/p`, "a project/p"],
        [`cannot write ${root}/elsewhere/a project for writing: Read-only file system`, "a project"],
        [`cannot write to ${root}/elsewhere/new because of it: Read-only file system`, "new"]
      ] as const) {
        assert.deepStrictEqual(
          names(attribute(world, `${said}\n`), world),
          [["not whitelisted", `/elsewhere/${path}`]],
          said
        )
      }
    }))

  it("takes no name from elsewhere where a message names what could not be made", () =>
    withWorld((world) => {
      // Nothing can be made there without a sandbox either.
      const proc = "touch: cannot touch '/proc/self/new': Read-only file system"
      const said = `${proc}\ncat: '${world.root}/elsewhere/nosuch': No such file or directory\n`
      const command = `touch /proc/self/new; cat ${world.root}/elsewhere/nosuch`
      assert.deepStrictEqual(names(attribute(world, said, { command }), world), [])
    }))

  for (const [command, said, resource] of [
    ["git config --global a.b c", "error: could not lock config file ROOT/home/.gitconfig: ", "/home"],
    ["sed -i s/a/b/ readable.txt", "sed: couldn't open temporary file ./sedmYIEiQ: ", "/elsewhere"],
    ["sed -i s/a/b/ sub/x", "sed: couldn't open temporary file sub/sedmYIEiQ: ", "/elsewhere/sub"],
    ["gcc a.c", "/usr/bin/ld: cannot open output file a.out: ", "/elsewhere/a.out"],
    ["tar cf x.tar y", "tar: x.tar: Cannot open: ", "/elsewhere/x.tar"],
    ["curl -o x http://localhost", "Warning: Failed to open the file x: ", "/elsewhere/x"],
    ["node w.js", "Error: EROFS: @, open 'x y'\n  errno: -30,\n  code: 'EROFS',\n  path: 'x y'", "/elsewhere/x y"],
    ["npm init", "npm error code EROFS\nnpm error path ROOT/elsewhere/p.json", "/elsewhere/p.json"],
    ["echo x > 'a b'", "bash: a b: ", "/elsewhere/a b"],
    ["./tool", "tool: cannot write its state: ", undefined],
    ["./tool", "tool: failed: ", undefined],
    ["./tool", "Error: could not open the lock file: ", undefined]
  ] as const) {
    it(`names a path of the message or none where nothing can be written: ${command}, ${said}`, () =>
      withWorld((world) => {
        const words = said.includes("@") ? said.replace("@", "read-only file system") : `${said}Read-only file system`
        const stderr = `${words.replaceAll("ROOT", world.root)}\n`
        const directories = [`${world.root}/elsewhere`, world.project]
        const found = names(attribute(world, stderr, { command, directories }), world).map(([, path]) => path)
        assert.deepStrictEqual(found, resource === undefined ? [] : [resource])
      }))
  }

  it("tells what is allowed and missing from what is read-only", () =>
    withWorld((world) => {
      const allowed = `${world.root}/elsewhere/new`
      const rule = { pattern: "~/new", path: allowed, kind: "path", source: "file" } as const
      const policy = { ...world.policy, whitelist: [...world.policy.whitelist, rule] }
      const found = () =>
        attribute({ ...world, policy }, `mkdir: cannot create directory '${allowed}/a': Read-only file system\n`)
      assert.deepStrictEqual(found(), [Denial.unmade(allowed)])
      Fs.mkdirSync(allowed)
      assert.deepStrictEqual(found(), [])
    }))

  it("knows that git names files from the top of its working tree", () =>
    withWorld((world) => {
      Fs.mkdirSync(`${world.project}/.git`)
      const directories = [`${world.project}/src`]
      const of = (command: string, said: string) =>
        names(attribute(world, `${said}: Permission denied\n`, { command, directories }), world)
      assert.deepStrictEqual(of("git add -p", 'error: open(".env")'), [["**/.env", "/project/.env"]])
      assert.deepStrictEqual(of("git hash-object .env", "fatal: could not open '.env' for reading"), [
        ["**/.env", "/project/src/.env"]
      ])
      Fs.writeFileSync(`${world.project}/src/.env`, "")
      assert.deepStrictEqual(of("git add -p", 'error: open(".env")'), [["**/.env", "/project/.env"]])
      const masks = masksOf(world).flatMap((mask) => [mask, { ...mask, path: `${world.project}/src/.env` }])
      const said = attribute(world, "cat: .env: Permission denied\n", { command: "cat .env", directories, masks })
      assert.deepStrictEqual(names(said, world), [["**/.env", "/project/src/.env"]])
    }))

  it("knows names with both kinds of quotes, as coreutils print them", () =>
    withWorld((world) =>
      assert.deepStrictEqual(
        attribute(world, String.raw`cat: 'vault/a"b'\''c': Permission denied`).map(({ resource }) => resource),
        [`${world.project}/vault/a"b'c`]
      )
    ))

  it("takes no part of a name for a name", () =>
    withWorld((world) => {
      const long = `cat: ''$'${"\\377".repeat(255)}''/.env': Permission denied\n`
      assert.deepStrictEqual(attribute(world, long, { command: "cat */.e*" }), [])
      const far = `${"x ".repeat(600)}cat: .env: Permission denied\n`
      assert.deepStrictEqual(names(attribute(world, far), world), [["**/.env", "/project/.env"]])
    }))

  it("names what could not be replaced, though the message names what was to replace it", () =>
    withWorld((world) => {
      const said = "fatal: renaming 'a.txt' failed: Device or resource busy\n"
      assert.deepStrictEqual(names(attribute(world, said, { command: "git mv -f a.txt .env" }), world), [
        ["**/.env", "/project/.env"]
      ])
      assert.deepStrictEqual(attribute(world, said, { command: "git mv -f a.txt b.txt" }), [])
      const removed = "mv: cannot remove 'a.txt': Device or resource busy\n"
      assert.deepStrictEqual(attribute(world, removed, { command: "mv a.txt ." }), [])
    }))

  it("names what the command names whole, though the name holds what ends one in a message", () =>
    withWorld((world) => {
      const at = `${world.root}/elsewhere/a: b`
      const said = (name: string) => `bash: line 1: ${name}: Read-only file system\n`
      const named = (name: string, command: string) =>
        attribute(world, said(name), { command }).map(({ resource }) => resource)
      assert.deepStrictEqual(named(at, `echo x > '${at}'`), [at])
      assert.deepStrictEqual(named("../elsewhere/a: b", "echo x > '../elsewhere/a: b'"), [at])
    }))

  it("takes a refused file that commands read a copy of as one to be written", () =>
    withWorld((world) => {
      const masks = masksOf(world)
      const accesses = [masks, masks.map((mask) => ({ ...mask, standIn: "" }))].map((masks) =>
        attribute(world, "PermissionError: [Errno 13] Permission denied: '.env'\n", { masks }).map(
          ({ access }) => access
        )
      )
      assert.deepStrictEqual(accesses, [["read"], ["write"]])
    }))

  it("asks the user for a move into a directory that is too wide to allow", () =>
    withWorld((world) => {
      const at = "/usr/share/nosuch.txt"
      const said = `mv: inter-device move failed: 'a.txt' to '${at}'; unable to remove target: Read-only file system\n`
      const [denial, ...others] = attribute(world, said, { command: `mv a.txt ${at}` })
      assert.deepStrictEqual([denial?.resource, denial?.next, others], [at, "Ask the user to do it.", []])
    }))

  for (const [command, said] of [
    ["git config --global a.b c", "error: could not lock config file AT: Read-only file system"],
    ["sed -i s/a/b/ AT", "sed: couldn't open temporary file ROOT/elsewhere/sedmYIEiQ: Read-only file system"],
    ["perl -i -pe 1 AT", "Can't do inplace edit on AT: Cannot make temp name: Read-only file system."],
    ["rm AT", "rm: cannot remove 'AT': Read-only file system"],
    ["rm AT", "rm: cannot remove 'AT': Device or resource busy"],
    ["mv a.txt AT", "mv: cannot move 'a.txt' to 'AT': Device or resource busy"]
  ] as const) {
    it(`says that an allowed file keeps its place: ${command}, ${said}`, () =>
      withWorld((world) => {
        const at = `${world.root}/elsewhere/readable.txt`
        const policy = { ...world.policy, whitelist: [...world.policy.whitelist, path(at)] }
        const fill = (text: string) => text.replaceAll("AT", at).replaceAll("ROOT", world.root)
        const found = attribute({ ...world, policy }, `${fill(said)}\n`, { command: fill(command) })
        assert.deepStrictEqual(found, [Denial.mounted(at)])
      }))
  }

  it("names what other programs say", () =>
    withWorld((world) => {
      const expand = (text: string) => text.replaceAll("ROOT", world.root)
      assert.deepStrictEqual(
        messages.map(({ command, text }) => [
          text,
          names(attribute(world, expand(text), { command: expand(command) }), world)
        ]),
        messages.map(({ resource, rule, text }) => [text, [[rule, resource]]])
      )
    }))

  it("knows a blacklisted file by its other names", () =>
    withWorld((world) => {
      const [mask] = masksOf(world)
      const masks = mask === undefined ? [] : [{ ...mask, path: `${world.project}/hard` }]
      assert.deepStrictEqual(names(attribute(world, "cat: hard: Permission denied", { masks }), world), [
        ["**/.env", "/project/hard"]
      ])
    }))

  it("knows what the policy protects of itself", () =>
    withWorld((world) => {
      const own = { pattern: "sandbox.json", path: `${world.project}/a.txt`, kind: "path", source: "own" } as const
      const policy = { ...world.policy, readonly: [own] }
      assert.deepStrictEqual(names(attribute({ ...world, policy }, "tee: a.txt: Read-only file system"), world), [
        ["sandbox.json", "/project/a.txt"]
      ])
    }))

  it("knows why what the policy protects, or what holds it, can be neither moved nor removed", () =>
    withWorld((world) => {
      const own = { pattern: "trusted", path: `${world.project}/src/main.py`, kind: "path", source: "trust" } as const
      const policy = { ...world.policy, readonly: [own, { ...own, path: `${world.project}/gone/x` }] }
      const told = (text: string) =>
        attribute({ ...world, policy }, text).map(({ reason, resource, rule }) => [
          rule,
          resource.slice(world.project.length),
          reason.replace(world.project, "")
        ])
      const itself = "it can be neither written, moved nor removed (a trusted MCP server)"
      const held = "it holds /src/main.py (a trusted MCP server), and can be neither moved nor removed"
      const busy = "Device or resource busy"
      assert.deepStrictEqual(told(`rm: cannot remove 'src/main.py': ${busy}`), [["trusted", "/src/main.py", itself]])
      assert.deepStrictEqual(told(`mv: cannot move 'a.txt' to './src/main.py': ${busy}`), [
        ["trusted", "/src/main.py", itself]
      ])
      assert.deepStrictEqual(told(`mv: cannot move 'src' to 'away': ${busy}`), [["trusted", "/src", held]])
      // Busy for a reason of its own.
      for (const path of ["a.txt", "gone", "src/main.py.bak", "sr", "../elsewhere"]) {
        assert.deepStrictEqual(told(`rm: cannot remove '${path}': ${busy}`), [], path)
      }
    }))

  it("does not claim what the user could not do without the sandbox", () =>
    withWorld((world) => {
      Fs.mkdirSync(`${world.root}/locked`, { mode: 0o555 })
      const isRoot = process.getuid?.() === 0
      const denials = attribute(world, "touch: cannot touch '../locked/x': Read-only file system")
      assert.strictEqual(denials.length, isRoot ? 1 : 0)
      assert.deepStrictEqual(attribute(world, "cat: own: Permission denied"), [])
      assert.deepStrictEqual(attribute(world, "touch: cannot touch 'a.txt': Read-only file system"), [])
    }))

  it("takes no text for a denial where nothing hides what it names", () =>
    withWorld((world) => {
      const error = "Error: EACCES: permission denied, open '.env'"
      const elsewhere = [`${world.root}/elsewhere`]
      Fs.writeFileSync(`${world.root}/elsewhere/.env`, "x")
      assert.deepStrictEqual(attribute(world, error, { directories: elsewhere }), [])
      assert.deepStrictEqual(attribute(world, error, { masks: [] }), [])
      assert.strictEqual(attribute(world, error).length, 1)
      // The agent's own commands keep to the rules.
      const read = "read: .env: Permission denied"
      assert.deepStrictEqual(names(attribute(world, read, { directories: elsewhere }), world), [
        ["**/.env", "/elsewhere/.env"]
      ])
    }))

  it("takes no exception for a denial that the command itself raises", () =>
    withWorld((world) => {
      const readonly = "OSError: [Errno 30] Read-only file system: '../elsewhere/readable.txt'"
      for (const [command, text] of [
        [
          `node -e 'throw new Error("EACCES: permission denied, open .env")'`,
          "Error: EACCES: permission denied, open .env"
        ],
        [`python3 -c 'raise OSError(30,"Read-only file system","../elsewhere/readable.txt")'`, readonly],
        [
          "python3 - <<E\nraise PermissionError(13, 'Permission denied', '.env')\nE",
          "PermissionError: [Errno 13] Permission denied: '.env'"
        ]
      ] as const) {
        assert.deepStrictEqual(attribute(world, text, { command }), [], command)
        assert.strictEqual(attribute(world, text, { command: "python3 x.py" }).length, 1, text)
      }
      const reraised = `python3 -c 'try: open("../elsewhere/readable.txt", "w")\nexcept OSError as e: raise e'`
      assert.strictEqual(attribute(world, readonly, { command: reraised }).length, 1)
    }))

  it("finds what is hidden among any number of other refusals", () =>
    withWorld((world) => {
      const others = Array.from({ length: 300 }, (_, at) => `tar: ./own${at}: Cannot open: Permission denied\n`).join(
        ""
      )
      const denials = attribute(world, `${others}tar: ./.env: Cannot open: Permission denied\n${others}`)
      assert.deepStrictEqual(names(denials, world), [["**/.env", "/project/.env"]])
    }))

  it("reads what zip says on standard output, and no other program's words there", () =>
    withWorld((world) => {
      const stdout =
        "zip I/O error: Read-only file system\nzip error: Could not create output file (../elsewhere/new.zip)\n"
      const of = (command: string) => names(attribute(world, "", { command, stdout }), world)
      assert.deepStrictEqual(of("zip -q ../elsewhere/new.zip a.txt"), [["not whitelisted", "/elsewhere/new.zip"]])
      assert.deepStrictEqual(of("./build"), [])
      assert.deepStrictEqual(of("cat zip.log; zip -v"), [])
    }))

  it("names the place where a file that was made beside could not be moved to", () =>
    withWorld((world) => {
      const moved = "patch: **** Can't create file ../elsewhere/new : Invalid cross-device link"
      assert.deepStrictEqual(names(attribute(world, moved), world), [["not whitelisted", "/elsewhere/new"]])
      assert.deepStrictEqual(attribute(world, "patch: **** Can't create file new : Invalid cross-device link"), [])
    }))

  it("names each denial once, and not more than can be read", () =>
    withWorld((world) => {
      assert.strictEqual(attribute(world, "cat: .env: Permission denied\n".repeat(1000)).length, 1)
      const many = Array.from({ length: 500 }, (_, at) => `cat: vault/${at}: Permission denied\n`).join("")
      assert.strictEqual(attribute(world, many).length, 20)
    }))

  it("survives any text", () =>
    withWorld((world) => {
      const junk = [
        "'",
        '"',
        "‘",
        "$'",
        "\\",
        ": ",
        "(",
        "`",
        "Permission denied",
        " -> ",
        "\0",
        "a".repeat(9000),
        "\n",
        "/.."
      ]
      const { blacklist, readonly } = world.policy
      const patterns = [...blacklist, ...readonly].map(({ pattern }) => pattern)
      let found = 0
      for (let seed = 0; seed < 100; seed++) {
        const text = Array.from({ length: 9 }, (_, at) => junk[(seed * 7 + at * (seed % 11)) % junk.length]).join("")
        const denials = attribute(world, `${text}: .env: Permission denied\n${text}Permission denied${text}`)
        for (const { rule } of denials) assert.include([...patterns, "not whitelisted"], rule)
        found += denials.length
      }
      assert.isAbove(found, 0)
    }))

  it("on macOS knows writes by the one refusal there is", () =>
    withWorld((world) => {
      const evidence = {
        command: CommandLine.parse("tool"),
        directories: [world.project],
        masks: [],
        stderr: "touch: ../elsewhere/new: Operation not permitted"
      }
      const on = (oneRefusal: boolean) => Attribution.make(world.policy, undefined, { oneRefusal })(evidence)
      assert.deepStrictEqual(names(on(true), world), [["not whitelisted", "/elsewhere/new"]])
      assert.deepStrictEqual(on(false), [])
    }))
})

it("names a repository's settings outside, which git names from its top", () =>
  withWorld((world) => {
    Fs.mkdirSync(`${world.root}/elsewhere/.git`)
    Fs.writeFileSync(`${world.root}/elsewhere/.git/config`, "")
    const said = "error: could not lock config file .git/config: Read-only file system\n"
    const found = attribute(world, said, { command: "git -C ../elsewhere config a.b c" })
    assert.deepStrictEqual(names(found, world), [["not whitelisted", "/elsewhere/.git"]])
  }))

describe("the network", () => {
  const hosts = (text: string, surely = 1, perhaps = 0) =>
    withWorld((world) =>
      attribute(world, text, { traffic: { surely, perhaps } }).map(({ how, resource }) => [how, resource])
    )

  it("is named by the hosts in messages, where the kernel counted an attempt", async () => {
    for (const [text, host] of [
      ["curl: (6) Could not resolve host: example.com", "example.com"],
      ["curl: (7) Failed to connect to 1.1.1.1 port 80 after 0 ms: Couldn't connect to server", "1.1.1.1"],
      ["fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com", "github.com"],
      ["Error: connect ENETUNREACH 1.1.1.1:80 - Local (0.0.0.0:0)", "1.1.1.1"],
      ["Error: getaddrinfo EAI_AGAIN packages.example.org", "packages.example.org"],
      ["java.net.UnknownHostException: packages.example.org", "packages.example.org"],
      ["ssh: Could not resolve hostname example.com: Temporary failure in name resolution", "example.com:22"],
      ["ssh: Could not resolve hostname host: Temporary failure in name resolution", "host:22"],
      ["ssh: connect to host 192.0.2.1 port 2222: Network is unreachable", "192.0.2.1:2222"],
      [
        "fatal: unable to access 'https://git.example.com:8443/a/': Could not resolve host: git.example.com",
        "git.example.com:8443"
      ],
      ["wget: unable to resolve host address ‘example.com’", "example.com"],
      ["wget: unable to resolve host address ‘mirror’", "mirror"],
      ['could not translate host name "db" to address: Name or service not known', "db:5432"],
      ["Could not resolve host name 'a.example.com': Name or service not known", "a.example.com"],
      ["Could not resolve host name: mirror", "mirror"],
      ["fatal: unable to look up github.com (port 9418) (Temporary failure in name resolution)", "github.com:9418"],
      ["bash: line 1: /dev/tcp/1.1.1.1/80: Network is unreachable", "1.1.1.1"]
    ] as const) {
      assert.deepStrictEqual(await hosts(text), [["verified-text", host]], text)
      assert.deepStrictEqual(await hosts(text, 0, 1), [["verified-text", host]], text)
      assert.deepStrictEqual(await hosts(text, 0), [], text)
    }
  })

  it("has the port that a command gives to psql", () =>
    withWorld((world) => {
      const said =
        'psql: error: could not translate host name "db.example.com" to address: Temporary failure in name resolution'
      for (const [command, resource] of [
        ["psql -h db.example.com -p 5433", "db.example.com:5433"],
        ["psql 'host=db.example.com port=6432'", "db.example.com:6432"],
        ["psql postgresql://u:p@db.example.com:7432/x", "db.example.com:7432"],
        ["psql -h db.example.com", "db.example.com:5432"]
      ] as const) {
        const [denial] = attribute(world, said, { command, traffic: { surely: 1, perhaps: 0 } })
        assert.strictEqual(denial?.resource, resource)
      }
    }))

  it("is not what another command may have sent, where nothing is said of it", async () => {
    assert.deepStrictEqual(await hosts("", 0, 1), [])
    assert.deepStrictEqual(await hosts("2 tests failed", 0, 1), [])
  })

  it("has no name where none is said", async () => {
    assert.deepStrictEqual(await hosts(""), [["counter", "network"]])
    for (const text of [
      "OSError: [Errno 101] Network is unreachable",
      "urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
      "x: IO::Socket::INET: connect: Network is unreachable at -e line 1.",
      "Error: connect ENETUNREACH"
    ]) {
      assert.deepStrictEqual(await hosts(text), [["verified-text", "network"]], text)
      assert.deepStrictEqual(await hosts(text, 0, 1), [], text)
    }
    // What is reached without a network, or is said of something else.
    for (const text of ["connect localhost: Name or service not known", "1 test failed: network", "unreachable code"]) {
      assert.deepStrictEqual(await hosts(text), [["counter", "network"]], text)
    }
  })

  it("is the cause of a failure only where a message tells of it", () =>
    withWorld((world) => {
      const cause = (stderr: string, exitCode: number, command = "tool") =>
        Attribution.causeOf(attribute(world, stderr, { command, traffic: { surely: 1, perhaps: 0 } }), { exitCode })
          ?.resource
      assert.strictEqual(cause("", 6), undefined)
      assert.strictEqual(cause("", 0), undefined)
      assert.strictEqual(cause("", 6, "for h in a b; do curl -s http://$h; done"), "network")
      assert.strictEqual(cause("2 tests failed", 1, "curl -s http://$h; npm test"), undefined)
      assert.strictEqual(cause("2 tests failed", 1), undefined)
      assert.strictEqual(cause("OSError: [Errno 101] Network is unreachable", 1), "network")
      assert.strictEqual(cause("curl: (6) Could not resolve host: example.com", 6), "example.com")
      assert.strictEqual(cause("curl: (6) Could not resolve host: example.com", 0), undefined)
      assert.strictEqual(cause("cat: .env: Permission denied", 1), `${world.project}/.env`)
      // What was met in passing is the cause only where nothing else is.
      const [other] = attribute(world, "cat: .env: Permission denied")
      assert(other !== undefined)
      const met = { ...other, isMet: true as const }
      const causeOf = (...denials: ReadonlyArray<Denial.Denial>) => Attribution.causeOf(denials, { exitCode: 1 })
      assert.strictEqual(causeOf(met, other), other)
      assert.strictEqual(causeOf(met), met)
    }))
})

describe("preflight and attribution", () => {
  it("agree: what is refused beforehand is what would have been named afterwards", () =>
    withWorld((world) => {
      const preflight = Preflight.make(world.policy)
      const ask = (command: string) =>
        preflight(CommandLine.parse(command.replaceAll("ROOT", world.root)), {
          cwd: world.project,
          home: world.home
        })[0]
      const differing = denied.flatMap(([command, rule]) => {
        const found = ask(command)?.rule.replace(world.root, "ROOT")
        return found === undefined || found === rule ? [] : [command]
      })
      assert.deepStrictEqual(differing, [])
      assert.deepStrictEqual([...harmless, ...harmlessToUsers].map(ask).filter(Boolean), [])
    }))

  it("name every denial of the corpus together, preflight the commonest", () =>
    withWorld((world) => {
      const expand = (text: string) => text.replaceAll("ROOT", world.root)
      const preflight = Preflight.make(world.policy)
      const named = recorded().map(({ command, directory, rule, text }) => {
        const [before] = preflight(CommandLine.parse(expand(command)), { cwd: world.project, home: world.home })
        const [after] = attribute(world, expand(text), {
          command: expand(command),
          directories: [expand(directory), world.project]
        })
        return { isRight: expand(rule) === (before ?? after)?.rule, isBefore: before !== undefined }
      })
      assert.strictEqual(named.filter(({ isRight }) => isRight).length, recorded().length)
      assert.isAtLeast(named.filter(({ isBefore }) => isBefore).length, 20)
    }))
})
