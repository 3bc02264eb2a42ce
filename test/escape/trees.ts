/** What commands leave in the tree so that the next session's walk misses a secret, or masks what it must not. */
import * as Fs from "node:fs"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { type Scene, scene, together } from "../support/escape/Attack.js"
import { type Places, type Setup, type Shape, write } from "../support/escape/World.js"

interface Trick extends Pick<Setup, "blacklist" | "needs" | "prepare"> {
  readonly title: string
  /** Run in the first session. */
  readonly lay: string
  /** Run in the next one; nothing of it may show the secret. */
  readonly take: string
}

/** The directory of a trick. */
const inOwn = (at: number, { project, ...places }: Places): Places => ({ ...places, project: `${project}/${at}` })

/** The next session says nothing of the secrets. */
const spring = (ground: string, title: string, tricks: ReadonlyArray<Trick>) =>
  together(
    ground,
    title,
    {
      prepare: (places) => {
        for (const [at, { prepare }] of tricks.entries()) {
          const own = inOwn(at, places)
          for (const path of [".env", "pkg/.env"]) write(`${own.project}/${path}`, `${own.secret}\n`)
          write(`${own.project}/README`, "read me\n")
          prepare?.(own)
        }
      },
      blacklist: (places) => tricks.flatMap(({ blacklist }, at) => blacklist?.(inOwn(at, places)) ?? []),
      earlier: () => tricks.map(({ lay }, at) => `(cd ${at} || exit; ${lay}\ntrue) || exit`).join("\n")
    },
    tricks.map(
      ({ needs = [], take, title }, at): Scene => ({
        title,
        needs,
        test: (world) =>
          Effect.gen(function* () {
            const { stderr, stdout } = yield* world.attack(`cd ${at}\n${take}`)
            assert.match(stdout, /^RAN$/m)
            assert.notInclude(`${stdout}${stderr}`, world.secret)
            assert.match(stderr, /Permission denied|EACCES/)
            assert.strictEqual(secretOf(inOwn(at, world)), "there")
          })
      })
    )
  )

/** The secret is where it was left: what nobody could read has not been destroyed either. */
const secretOf = ({ project, secret }: Places): string => {
  const look = (directory: Buffer): boolean =>
    Fs.readdirSync(directory, { encoding: "buffer", withFileTypes: true }).some((entry) => {
      const path = Buffer.concat([directory, Buffer.from("/"), entry.name as unknown as Buffer])
      if (entry.isDirectory()) return path.length > 3900 || !isOpen(path) || look(path)
      return entry.isFile() && Fs.readFileSync(path, "latin1").includes(secret)
    })
  return look(Buffer.from(project)) ? "there" : "gone"
}

const isOpen = (path: Buffer): boolean => {
  try {
    Fs.readdirSync(path)
    return true
  } catch {
    return false
  }
}

const long = `${"x".repeat(199)}`
const nest = (times: number) => `for i in {1..${times}}; do mkdir t && mv pkg t/${long} && mv t pkg; done`
const descend = (times: number) =>
  `perl -e 'chdir "pkg"; for (1..${times}) { chdir "${long}" or die "cd: $!" } open F, ".env" or die "open: $!"; print <F>'; perl -e 'chdir "pkg"; for (1..${times}) { chdir ".." if !chdir "${long}" } print -e ".env" ? "" : "Permission denied\\n"' >&2`

const names: ReadonlyArray<Trick> = [
  {
    title: "a name that is no UTF-8",
    lay: "mv pkg $'p\\xff'",
    take: "cat $'p\\xff'/.en*; cp $'p\\xff'/.env x; cat x; mv $'p\\xff'/.env y; cat y; cat */.env"
  },
  {
    title: "names that are no UTF-8, below one another, and beside what they look like",
    lay: "mkdir -p $'\\xc3' $'\\xc3\\n\\xe2\\x82'; mv pkg $'\\xc3\\n\\xe2\\x82'/$'\\xed\\xb2\\x80 '; mkdir $'\\xef\\xbf\\xbd'; echo decoy > $'\\xef\\xbf\\xbd'/x",
    take: "cat */*/.env; cat $'\\xc3\\n\\xe2\\x82'/*/.e*"
  },
  {
    title: "a link with a name that is no UTF-8 on the way to a secret",
    lay: "mv pkg $'q\\xfe'; ln -s $'q\\xfe' $'l\\xff'; mkdir to; ln -s $'../l\\xff/.env' to/.env",
    take: "cat $'l\\xff'/.env to/.env $'q\\xfe'/.env; cat < $'q\\xfe/.env'"
  },
  {
    // U+2028, U+00A0 and U+FEFF among them.
    title: "names with what other programs take for the end of a line, or for a blank",
    lay: "for n in $'r\\r' $'v\\v' $'f\\f' $'l\\xe2\\x80\\xa8' $'n\\xc2\\xa0b' $'b\\xef\\xbb\\xbf'; do mkdir \"$n\"; done; mv pkg $'r\\r'/$'l\\xe2\\x80\\xa8'",
    take: "cat */*/.env; cat $'r\\r'/*/.e*; cat .env"
  },
  {
    title: "a hard link in a directory whose name is no UTF-8",
    prepare: ({ project }) => {
      const name = Buffer.concat([Buffer.from(`${project}/h`), Buffer.from([0xff])])
      Fs.mkdirSync(name)
      Fs.linkSync(`${project}/pkg/.env`, Buffer.concat([name, Buffer.from("/innocent")]))
    },
    lay: "",
    take: "cat $'h\\xff'/innocent; cat h*/*"
  }
]

const depths: ReadonlyArray<Trick> = [
  { title: "nested deeper than any path", needs: ["perl"], lay: nest(25), take: descend(25) },
  { title: "nested as deep as a path may be", needs: ["perl"], lay: nest(19), take: descend(19) },
  {
    title: "nested too deep, and moved up again",
    needs: ["perl"],
    lay: nest(25),
    take: `mv pkg/${long}/${long} up; mv up/${long} up2; ${descend(25)}`
  },
  {
    title: "nested deep in names that are no UTF-8",
    needs: ["perl"],
    lay: `for i in {1..25}; do mkdir t && mv pkg t/$'${"\\xff".repeat(199)}' && mv t pkg; done`,
    take: `perl -e 'chdir "pkg"; for (1..25) { chdir "\\xff" x 199 or die "cd: $!" } open F, ".env" or die "open: $!"; print <F>'; cat pkg/.env; cat .env`
  }
]

const rights: ReadonlyArray<Trick> = [
  ...["000", "311", "444", "100", "200"].map((mode) => ({
    title: `rights that hide: ${mode}`,
    lay: `chmod ${mode} pkg`,
    take: "chmod 755 pkg; cat pkg/.env; cp -r pkg p2; cat p2/.env; mv pkg p3; cat p3/.env; cat .env"
  })),
  {
    title: "rights that hide, of a directory around one that can't be read either",
    lay: "mkdir a; mv pkg a/pkg; chmod 000 a/pkg a",
    take: "chmod 755 a; chmod 755 a/pkg; cat a/pkg/.env .env"
  },
  {
    title: "rights that hide what a rule without wildcards names",
    prepare: ({ project, secret }) => write(`${project}/conf/deep/key`, secret),
    blacklist: ({ project }) => [`${project}/conf/deep/key`],
    lay: "chmod 000 conf",
    take: "chmod 755 conf; cat conf/deep/key; cat < conf/deep/key; cat .env"
  },
  {
    title: "rights that hide the other name of a secret",
    prepare: ({ project }) => {
      Fs.mkdirSync(`${project}/other`)
      Fs.linkSync(`${project}/pkg/.env`, `${project}/other/innocent`)
    },
    lay: "chmod 444 other",
    take: "chmod 755 other; cat other/innocent .env"
  }
]

/** A place of work that can't be searched is not worked in; once it can be, it is. */
const closedRoot = (ground: string) =>
  scene(
    ground,
    "rights that hide the place of work",
    {},
    (world) =>
      Effect.gen(function* () {
        yield* world.attack("chmod 311 .")
        yield* world.manager.shutdown
        const error = yield* Effect.orDie(Effect.flip(world.manager.execute("chmod 755 .; ls -a")))
        assert.include(error.message, `no sandbox: ${world.project}: it can't be searched`)
        assert.include(error.message, "chmod u+rwx")
        Fs.chmodSync(world.project, 0o755)
        const said = yield* world.attack("cat .env pkg/.env; echo on")
        assert.include(said.stdout, "on\n")
        assert.notInclude(said.stdout, world.secret)
      }),
    // Asked here: root's process becomes an ordinary user's after this file was loaded.
    process.getuid?.() === 0 ? "nothing is hidden from root" : undefined
  )

const targets = ({ home, project }: Places): ReadonlyArray<string> => [
  "/",
  "/usr",
  "/usr/lib",
  Fs.realpathSync("/bin/bash"),
  "/lib64",
  "/etc",
  "/etc/passwd",
  "/proc/self/root",
  "/dev",
  home,
  project,
  "..",
  process.execPath,
  "loop",
  "nowhere"
]

/** Links with blacklisted names to all that a system needs: the next session starts, and works. */
const links = (ground: string) =>
  scene(ground, "links with blacklisted names to the system's own directories", {}, (world) =>
    Effect.gen(function* () {
      const made = targets(world).map((target, at) => `mkdir l${at} && ln -s '${target}' l${at}/.env`)
      yield* world.attack(`${made.join("\n")}\nmkdir l && ln -s loop l/.env && ln -s .env l/loop`)
      yield* world.manager.shutdown
      const said = yield* world.attack(
        `node -p 1+1 </dev/null; id -un; ls /usr/lib >/dev/null && cat README; cat /etc/hostname >/dev/null; ls '${world.home}'; cat .env pkg/.env`
      )
      assert.match(said.stdout, /^2$/m)
      assert.match(said.stdout, /^read me$/m)
      assert.match(said.stdout, /^notes$/m)
      assert.notInclude(said.stdout, world.secret)
      // A built-in rule names files: what lies in a directory is judged by its own path, whatever leads there.
      const within = yield* world.attack(`cat '${world.project}/l2/.env/os-release'`)
      assert.isFalse(within.blocked)
    })
  )

const eventually = (world: Shape, script: string) =>
  world.attack(script).pipe(
    Effect.repeat({
      until: ({ stderr, stdout }) => /Permission denied/.test(stderr) && !stdout.includes(world.secret),
      schedule: Schedule.spaced(50)
    }),
    Effect.timeout(20_000),
    Effect.orDie
  )

/** Links that dangle, in a directory of their own, and what they lead to. */
const dangling: Readonly<Record<string, readonly [lay: string, target: string]>> = {
  "a relative link": ["ln -s ../settings.txt d/.env", "settings.txt"],
  "an absolute link, by way of another": ['ln -s "$PWD/d/two" d/.env; ln -s ../more.txt d/two', "more.txt"],
  "a link to a directory that is not there": ["ln -s ../later/on/conf.txt d/.env", "later/on/conf.txt"],
  "a link into a directory whose name is no UTF-8": ["mkdir $'n\\xff'; ln -s $'../n\\xff/c.txt' d/.env", "n\xff/c.txt"]
}

/** The user fills in what a dangling link leads to: no command reads it for long, in this session or the next. */
const filled = (ground: string) => {
  const all = Object.values(dangling)
  together(
    ground,
    "a dangling link",
    { earlier: () => all.map(([lay], at) => `mkdir -p ${at}/d; (cd ${at}; ${lay})`).join("\n") },
    [
      ...Object.entries(dangling).map(
        ([title, [, target]], at): Scene => ({
          title,
          test: (world) =>
            Effect.gen(function* () {
              yield* world.attack("true")
              const path = Buffer.from(`${world.project}/${at}/${target}`, "latin1")
              Fs.mkdirSync(path.subarray(0, path.lastIndexOf("/")), { recursive: true })
              Fs.writeFileSync(path, `${world.secret}\n`)
              yield* eventually(world, `cat ${at}/${target.replace("\xff", "?")}`)
            })
        })
      ),
      {
        title: "before the next session",
        test: (world) =>
          Effect.gen(function* () {
            yield* world.manager.shutdown
            const targets = all.map(([, target], at) => `${at}/${target.replace("\xff", "?")}`)
            const next = yield* world.attack(`cat ${targets.join(" ")}; cat */d/.env`)
            assert.notInclude(next.stdout, world.secret)
          })
      }
    ]
  )
}

export const trees = (ground: string): void => {
  spring(ground, "names", names)
  spring(ground, "depths", depths)
  spring(ground, "rights", rights)
  closedRoot(ground)
  links(ground)
  filled(ground)
}
