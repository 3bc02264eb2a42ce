/** What a user's own tools run after a session: git's settings and hooks, and files of editors and shells. */
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CallContext from "../../src/domain/CallContext.js"
import { sandboxedOn } from "../support/sandbox/LocalApp.js"
import { notices } from "../support/Told.js"

/** What the user does afterwards, in the project and in its directory `sub`. */
const everything = [
  "status",
  "diff",
  "log -1",
  "checkout -q -b later",
  "fetch -q origin",
  "add -A",
  "commit -qm x --allow-empty",
  "st"
]
  .map((words) => `git ${words} </dev/null\n`)
  .join("")

interface Attack {
  /** Commands; `RUN` is a program that leaves a trace. */
  readonly commands: ReadonlyArray<string>
  /** What the user has before. */
  readonly before?: string
  readonly cwd?: string
}

/** Makes a repository by a script, whose words say nothing of git. */
const made =
  'printf "g=g\\n\\${g}it init -q sub\\n\\${g}it -C sub config core.fsmonitor \\"RUN; true\\"" >s.sh; . ./s.sh'

const late: Readonly<Record<string, ReadonlyArray<string>>> = {
  "a script": [made],
  "a job": [`(${made}) >/dev/null 2>&1 & sleep 0.2`],
  "an archive": [
    'mkdir x; git init -q x/sub; git -C x/sub config core.fsmonitor "RUN; true"; tar cf t.tar -C x sub; rm -r x',
    "tar xf t.tar"
  ]
}

const attacks: Readonly<Record<string, Attack>> = {
  "a setting": { commands: ['git config core.fsmonitor "RUN; true"'] },
  "a setting in a file of another spelling": {
    commands: ["printf '\\xef\\xbb\\xbf[CORE] ; x\\r\\n\\tFsMonitor=\"RUN;\\\\\\n true\"' >.git/config"]
  },
  "a file that git includes": {
    commands: ['printf "[core]\\n\\tfsmonitor = RUN" >evil; git config include.path ../evil']
  },
  "another configuration in its place": {
    commands: ['printf "[core]\\n\\tfsmonitor = RUN" >evil; ln -sf ../evil .git/config', "ln -f evil .git/config"]
  },
  "a configuration without rights": {
    commands: ['git config alias.st "!RUN"; chmod 500 .git; chmod 400 .git/config']
  },
  "a configuration of 3 MB, of which not all is read": {
    commands: ['git config core.fsmonitor "RUN; true"; yes "# x" | head -c 3000000 >>.git/config']
  },
  "a configuration of the worktree": {
    commands: ['git config extensions.worktreeConfig true; git config --worktree core.fsmonitor "RUN; true"']
  },
  "another common directory": {
    commands: ['cp -r .git other; git --git-dir other config core.fsmonitor "RUN; true"; echo ../other >.git/commondir']
  },
  "a file in the place of .git": {
    commands: ['mv .git other; git --git-dir other config core.fsmonitor "RUN; true"; echo "gitdir: other" >.git']
  },
  "another repository in the place of .git": {
    commands: [
      'cp -r .git other; mv .git old || true; [ -e .git ] || mv other .git; git config core.fsmonitor "RUN; true"'
    ]
  },
  "settings in the background": {
    commands: [
      '(while :; do git config core.fsmonitor "RUN; true"; sleep 0.01; done) >/dev/null 2>&1 & sleep 0.3',
      "sleep 0.2"
    ]
  },
  hooks: {
    commands: [
      "printf '#!/bin/sh\\nRUN\\n' >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout",
      "rm -r .git/hooks"
    ]
  },
  "hooks in a place without a name in UTF-8": {
    commands: [
      'd=$(printf \'sub/\\377\'); mkdir -p "$d"; ln -s "$PWD/$d/.git" sub/.git; git init -q "$d"; cd "$d"; printf \'#!/bin/sh\\nRUN\\n\' >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout; cp .git/hooks/post-checkout .git/hooks/$(printf \'\\377\'); cd ../..'
    ]
  },
  "an address in place of a remote": {
    before: "git config --global protocol.ext.allow always; git branch -M main",
    commands: ['git config branch.main.remote "ext::RUN"; git config branch.main.merge refs/heads/main']
  },
  "hooks whose other names are taken, or too long": {
    before: "rm -r .git/hooks",
    commands: [
      "mkdir .git/hooks; printf '#!/bin/sh\\nRUN\\n' >.git/hooks/post-checkout; cp .git/hooks/post-checkout .git/hooks/$(printf '%0250d' 1); mkdir -p .git/hooks/post-checkout.disabled/x .git/hooks/pre-commit.disabled/x; cp .git/hooks/post-checkout .git/hooks/pre-commit; chmod +x .git/hooks/*"
    ]
  },
  "a directory in the place of the configuration": {
    commands: ["mv .git/config .git/c; mkdir -p .git/config/x .git/config.disabled/x; git --version"]
  },
  "hooks elsewhere": {
    commands: [
      "mkdir -p h; printf '#!/bin/sh\\nRUN\\n' | tee h/post-checkout >h/pre-commit; chmod +x h/*; git config core.hooksPath h"
    ]
  },
  "hooks where there was no directory of them": {
    before: "rm -r .git/hooks",
    commands: [
      "mkdir .git/hooks; printf '#!/bin/sh\\nRUN\\n' >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout"
    ]
  },
  "hooks that can't be listed": {
    commands: [
      "mkdir -p sub; git init -q sub; cd sub; printf '#!/bin/sh\\nRUN\\n' | tee .git/hooks/post-checkout >.git/hooks/pre-commit; chmod +x .git/hooks/p*; chmod 300 .git/hooks; cd .."
    ]
  },
  "a repository of its own": {
    commands: ['git init -q sub; git -C sub config core.fsmonitor "RUN; true"']
  },
  "a repository that a script makes, found by the next walk": {
    commands: [made, "true", "sleep 2.5", "sleep 1.5"]
  },
  "a bare repository": {
    commands: [
      'mkdir sub; cd sub; git init -q --bare .; git config --file config core.bare false; git config --file config core.worktree .; git config --file config core.fsmonitor "RUN; true"'
    ]
  },
  "a submodule's settings": {
    before:
      "git init -q lib; git -C lib -c user.name=a -c user.email=a commit -qm x --allow-empty; git -c protocol.file.allow=always submodule --quiet add ./lib sub",
    commands: ['printf "[core]\\n\\tfsmonitor = RUN\\n" >>.git/modules/sub/config']
  },
  "an alias, a remote helper and a pager": {
    commands: [
      'git config alias.st "!RUN"; git remote add origin "ext::RUN"; git config protocol.ext.allow always; git config core.pager "RUN"'
    ]
  },
  "a filter": {
    commands: ['git config filter.f.clean "RUN; cat"; echo "* filter=f" >.gitattributes; echo x >f']
  }
}

/** Those that the user's rights in the project, or root's, could decide. */
const ofUsers = [
  "another configuration in its place",
  "a configuration without rights",
  "hooks that can't be listed",
  "hooks",
  "a repository of its own",
  "a submodule's settings"
]

/** Everyday work, and what it leaves in the configuration. */
const everyday = `set -e
git config user.name Eve; git config user.email e@v.e; echo x >f; git add f; git commit -qm one
git checkout -q -b topic; git branch -m topic better; git init -q --bare remote.git; git remote add origin "$PWD/remote.git"
git push -q -u origin better; git branch other; git worktree add -q wt other; git -C wt commit -qm two --allow-empty
echo y >f; git stash -q; git stash pop -q; git checkout -q f; git init -q lib; git -C lib -c user.name=a -c user.email=a commit -qm x --allow-empty
git -c protocol.file.allow=always submodule --quiet add "$PWD/lib" sub; git commit -qm three; git config alias.st status; git st -s
git config pull.rebase true; git pull -q; git config core.autocrlf input; git worktree remove --force wt; git rev-parse --abbrev-ref '@{u}'`

export const guard = (title: string, ground: string, isSecond = false): void => {
  const sandboxed = sandboxedOn(ground)

  /** A program of the user's, outside of the sandbox. */
  const shell = (command: string, cwd: string, home: string) =>
    ChildProcess.spawnSync("/bin/sh", ["-c", command], {
      cwd,
      env: {
        ...{ PATH: process.env["PATH"] ?? "", HOME: home, GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0" },
        ...{ GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a" }
      },
      encoding: "utf8",
      timeout: 20_000
    })

  /** Runs commands in the user's repository; then `use`, once the session has ended. Returns what was said, and what `use` returns. */
  const session = <A>(
    { before = "true", commands, cwd = "project" }: Attack,
    use: (project: string, outside: string) => A,
    whitelist: ReadonlyArray<string> = []
  ) =>
    sandboxed(({ execute, shutdown }, { outside, project }) =>
      Effect.gen(function* () {
        shell(`git init -q . && git commit -qm x --allow-empty && ${before}`, project, `${outside}/user`)
        Fs.writeFileSync(`${outside}/home/sandbox.json`, JSON.stringify({ policy: { filesystem: { whitelist } } }))
        const said: Array<string> = []
        for (const command of commands) {
          const options = { cwd: `${outside}/${cwd}` }
          const {
            blockedReason = "",
            diagnostics,
            stderr,
            stdout
          } = yield* execute(command.replaceAll("RUN", `touch ${outside}/ran`), options)
          said.push(stdout, stderr, blockedReason, ...(notices({ diagnostics }) ?? []))
        }
        yield* shutdown
        return { said: said.join("\n"), used: use(project, outside) }
      })
    )

  /** Tests whether anything of the commands runs when the user works with git. */
  const leavesTrace = (project: string, outside: string): boolean => {
    for (const directory of [project, `${project}/sub`].filter((path) => Fs.existsSync(path))) {
      shell(everything, directory, `${outside}/user`)
    }
    return Fs.existsSync(`${outside}/ran`)
  }

  describe(title, () => {
    for (const [name, one] of Object.entries(attacks)) {
      it.live.skipIf(isSecond && !ofUsers.includes(name))(`runs nothing for ${name}`, () =>
        Effect.gen(function* () {
          const { said, used } = yield* session(one, leavesTrace)
          assert.isFalse(used, said)
          assert.match(said, /Taken back from|was restored|was removed|renamed to|blocked by rule/)
        })
      )
    }

    for (const [name, commands] of Object.entries(late))
      it.live.skipIf(isSecond)(`runs nothing for a repository that ${name} makes last, and tells it`, () => {
        const hints: Array<string> = []
        const listener = { onHint: (hint: string) => void hints.push(hint) }
        return Effect.map(CallContext.locally(session({ commands }, leavesTrace), { listener }), ({ said, used }) => {
          assert.isFalse(used, said)
          assert.match(hints.join("\n"), /^Taken back from sub\/\.git\/config: core\.fsmonitor\./)
        })
      })

    it.live("lets everyday git work, and keeps what it has set", () =>
      Effect.gen(function* () {
        const { said, used } = yield* session(
          { commands: [everyday] },
          (project) => shell("git config --list", project, "/nonexistent").stdout
        )
        assert.match(said, /origin\/better/)
        assert.notMatch(said, /Taken back|renamed|restored|removed:/)
        for (const line of [
          "branch.better.remote=origin",
          "user.name=Eve",
          "alias.st=status",
          "submodule.sub.active=true"
        ])
          assert.include(used.split("\n"), line)
      })
    )

    it.live("holds for the repository of a linked worktree as well", () =>
      Effect.gen(function* () {
        const before =
          "git init -q --bare ../o; git remote add o ../o; git push -q o HEAD:main; git worktree add -q ../tree"
        const work = "git config user.name Eve; git checkout -q -b better o/main; git branch other; git branch -D other"
        const evil = 'git config alias.st "!RUN"; git config core.fsmonitor "RUN; true"'
        const { said, used } = yield* session(
          { before, cwd: "tree", commands: [`${work} && echo worked`, evil] },
          (project, outside) => [
            leavesTrace(project, outside),
            shell("git config --list", project, "/nonexistent").stdout
          ]
        )
        assert.match(said, /^worked$/m)
        assert.notMatch(said, /could not write config file/)
        assert.strictEqual(used[0], false)
        for (const line of ["branch.better.remote=o", "user.name=Eve"]) assert.include(used[1], line)
        // A search that the first command has begun may take them back, and tell it with a later result.
        assert.notMatch(String(used[1]), /fsmonitor|alias\./)
      })
    )

    it.live("keeps what was there before, and what else a command has set", () =>
      Effect.gen(function* () {
        const before = "git config core.editor ed; git config filter.f.clean cat; git config core.hooksPath .husky"
        const command = "git config core.pager less; git config user.name Eve; git config core.hooksPath .husky"
        const { said, used } = yield* session(
          { before, commands: [command, "git config core.sshCommand x; git branch -m renamed; false"] },
          (project) => shell("git config --list", project, "/nonexistent").stdout
        )
        assert.match(said, /Taken back from \.git\/config: core\.pager\./)
        assert.include(said, " .git/config is read-only until a new shell starts.")
        assert.match(said, /busy|Read-only/)
        assert.match(said, /it can be neither written, moved nor removed \(the user's own tools run it\)/)
        for (const line of ["core.editor=ed", "filter.f.clean=cat", "core.hookspath=.husky", "user.name=Eve"])
          assert.include(used.split("\n"), line)
        assert.notInclude(used, "less")
      })
    )

    it.live.skipIf(isSecond)("takes husky's directory back unless it is allowed by its name", () =>
      Effect.gen(function* () {
        const command = "mkdir -p .husky; git config core.hooksPath .husky"
        const list = (project: string) => shell("git config core.hooksPath", project, "/nonexistent").stdout
        const { said, used } = yield* session({ commands: [command] }, list)
        assert.deepStrictEqual([used, /core\.hookspath/.test(said)], ["", true])
        const allowed = yield* session({ before: "mkdir .husky", commands: [command] }, list, [".husky"])
        assert.strictEqual(allowed.used, ".husky\n", allowed.said)
        const git = yield* session(
          { commands: ["git config core.pager less; touch .git/hooks/x && echo made"] },
          list,
          [".git"]
        )
        assert.match(git.said, /made/)
        assert.notMatch(git.said, /Taken back/)
      })
    )

    it.live.skipIf(isSecond)("keeps files of editors read-only, tells of new ones, and lets the user allow them", () =>
      Effect.gen(function* () {
        const before =
          "mkdir .vscode .devcontainer; echo 1 | tee .dir-locals.el .devcontainer/a >.vscode/tasks.json; mkdir .idea; echo 1 >.idea/a; git add .idea"
        const command =
          "echo 2 >.vscode/tasks.json; rm -rf .vscode; mv .vscode x; echo 2 >.devcontainer/a; echo 2 >.dir-locals.el; echo 2 >.idea/a; echo 2 >.mcp.json"
        const read = (project: string) =>
          [".vscode/tasks.json", ".idea/a"].map((name) => Fs.readFileSync(`${project}/${name}`, "utf8").trim()).join()
        const { said, used } = yield* session({ before, commands: [command, "echo 3 >.vscode/tasks.json"] }, read)
        assert.strictEqual(used, "1,2")
        assert.match(said, /run or load what has changed: \.idea, \.mcp\.json\./)
        assert.match(said, /blocked by rule.*synapse sandbox allow/s)
        for (const name of [".devcontainer/a", ".dir-locals.el"]) assert.include(said, `${name}: Read-only file system`)
        const allowed = yield* session({ before, commands: ["echo 2 >.vscode/tasks.json"] }, read, [".vscode"])
        assert.strictEqual(allowed.used, "2,1", allowed.said)
      })
    )

    it.live.skipIf(isSecond)("keeps what other tools run read-only, and tells of new files, each once", () =>
      Effect.gen(function* () {
        const before =
          "mkdir -p .jj/repo; echo 1 | tee .jj/repo/config.toml >old.code-workspace; touch .yarnrc.yml; git add .yarnrc.yml"
        const made = [".hg/hgrc", ".pnpmfile.cjs", ".yarnrc.yml", "opencode.jsonc", "new.Code-Workspace"]
        const { said, used } = yield* session(
          {
            before,
            commands: [
              "for f in .jj/repo/config.toml old.code-workspace; do echo 2 >$f; done",
              `mkdir .hg; echo 2 | tee ${made.join(" ")}`,
              "echo 3 >>new.Code-Workspace",
              "printf 3 >$(printf '\\377.code-workspace'); ln -s /etc/passwd link.code-workspace"
            ]
          },
          (project) =>
            [".jj/repo/config.toml", "old.code-workspace"].map((name) => Fs.readFileSync(`${project}/${name}`, "utf8"))
        )
        assert.deepStrictEqual(used, ["1\n", "1\n"], said)
        const told = [...said.matchAll(/run or load what has changed: (.*?)\. It should/g)].map(([, names = ""]) =>
          names.split(", ").sort()
        )
        assert.deepStrictEqual(told, [[...made].sort(), ["$'\\xff.code-workspace'", "link.code-workspace"]], said)
      })
    )

    it.live.skipIf(isSecond)("keeps start-up files in a home that is worked in, unless the home is allowed", () =>
      Effect.gen(function* () {
        const before =
          "cd ../user; mkdir -p .config/autostart .config/helix .local/bin .cache .githooks .nvm .rvm/scripts; echo mine | tee .rvm/scripts/rvm .bashrc .gdbinit .psqlrc >.nvm/nvm.sh"
        const command =
          "for f in .bashrc .gdbinit .psqlrc .nvm/nvm.sh .rvm/scripts/rvm; do echo more >>$f; done; mkdir .unheard; touch .config/autostart/x .config/helix/x .local/bin/x .cache/x .githooks/x; echo new >.lldbinit; echo ok >notes; echo caches ${XDG_CACHE_HOME:+apart}"
        const read = (_: string, outside: string) =>
          [".bashrc", "notes"].map((name) => Fs.readFileSync(`${outside}/user/${name}`, "utf8")).join("") +
          String(Fs.readdirSync(`${outside}/user/.config/autostart`).length)
        const { said, used } = yield* session({ before, commands: [command], cwd: "user" }, read)
        assert.strictEqual(used, "mine\nok\n0")
        assert.match(said, /run or load what has changed: \.lldbinit, \.unheard/)
        assert.include(said, "caches apart")
        const made = [".config/helix/x", ".local/bin/x", ".cache/x", ".githooks/x"]
        for (const name of [".gdbinit", ".psqlrc", ".nvm/nvm.sh", ".rvm/scripts/rvm", ...made])
          assert.include(
            said.replace(/[‘’']/g, "").replaceAll("touch: cannot touch ", "bash: "),
            `bash: ${name}: Read-only`
          )
        const allowed = yield* session({ before, commands: [command], cwd: "user" }, read, ["~"])
        assert.strictEqual(allowed.used, "mine\nmore\nok\n1", allowed.said)
      })
    )

    it.live.skipIf(isSecond)("tells of another link in the place of one, as of the project's own Synapse", () =>
      Effect.gen(function* () {
        const before =
          "mkdir -p node_modules/.bin node_modules/a editor; echo 1 >editor/a; ln -s editor .zed; mkdir -p m/repo; echo 1 >m/repo/config.toml; ln -s m .jj; echo 1 >node_modules/a/b; ln -s ../a/b node_modules/.bin/synapse; printf node_modules >.gitignore"
        const commands = [
          "ln -sf ../../evil node_modules/.bin/synapse",
          "ln -sfn evil .zed",
          "mkdir -p e/repo; echo 2 >e/repo/config.toml; ln -sfn e .jj"
        ]
        const { said } = yield* session({ before, commands }, () => undefined)
        const told = [...said.matchAll(/run or load what has changed: (.*?)\. It should/g)].map(([, names]) => names)
        assert.deepStrictEqual(told, ["node_modules/.bin/synapse", ".zed", ".jj/repo/config.toml"], said)
      })
    )

    it.live.skipIf(isSecond)("tells of new keys and passwords in a home, also where the home is allowed", () =>
      Effect.gen(function* () {
        const commands = [
          "d=.aw; mkdir ${d}s; echo key >${d}s/credentials; h=.bash_hist; echo 1 >${h}ory",
          "n=.net; ln -s notes ${n}rc; mkdir -p .config/gh; h=hosts; echo 1 >.config/gh/$h.yml",
          "echo 2 >.net?c; true"
        ]
        const user = { commands, cwd: "user" }
        for (const whitelist of [[], ["~"]]) {
          const { said } = yield* session(user, () => undefined, whitelist)
          const told = [...said.matchAll(/run or load what has changed: (.*?)\. It should/g)].map(([, names]) => names)
          assert.deepStrictEqual(
            told,
            [".aws", `.netrc, ${whitelist.length === 0 ? ".config, " : ""}.config/gh/hosts.yml`],
            said
          )
        }
      })
    )

    it.live("takes back what runs programs from the configuration of the user's git, in a home without one", () =>
      Effect.gen(function* () {
        const commands = [
          'git config -f .gitconfig user.name Eve; git config -f .gitconfig alias.st "!RUN"; git config -f .gitconfig core.hooksPath hooks',
          "mkdir -p ../project/hooks c/git; printf '#!/bin/sh\nRUN\n' >../project/hooks/post-checkout; chmod +x ../project/hooks/*",
          "printf '[core]\n\tfsmonitor = RUN; true\n' >c/git/config; ln -s c .config"
        ]
        const { said, used } = yield* session({ commands, cwd: "user" }, (project, outside) => [
          leavesTrace(project, outside),
          shell("git config user.name", project, `${outside}/user`).stdout
        ])
        assert.deepStrictEqual(used, [false, "Eve\n"], said)
        assert.match(said, /Taken back from \.gitconfig: alias\.st, core\.hookspath\./)
      })
    )

    it.live("renames what is new in a home and runs when the user logs in", () =>
      Effect.gen(function* () {
        const commands = [
          "echo new >.profile; ln -s .profile .zshenv; mkdir -p c/autostart .local/share/systemd/user; echo new >c/autostart/x; ln -s c .config",
          "echo again >.profile; mkdir notes"
        ]
        const left = (_: string, outside: string) =>
          ["user", "user/.local/share"]
            .flatMap((name) => Fs.readdirSync(`${outside}/${name}`))
            .filter((name) => /profile|zsh|config|systemd|notes/.test(name))
            .sort()
        const { said, used } = yield* session({ commands, cwd: "user" }, left)
        const renamed = [".config", ".profile", ".zshenv"].map((name) => `${name}.disabled`)
        assert.deepStrictEqual(used, [...renamed, "notes", "systemd.disabled"])
        assert.match(said, /\.profile would run outside of the sandbox at the next login, so it was renamed/)
        const allowed = yield* session({ commands, cwd: "user" }, left, ["~"])
        assert.includeMembers(allowed.used, [".profile", ".zshenv", ".config"])
        assert.notMatch(allowed.said, /renamed/)
      })
    )
  })
}
