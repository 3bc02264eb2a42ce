/** What commands leave in the tree so that the next session's walk misses a secret, or masks what it must not. */
import * as Fs from "node:fs"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { scene } from "../support/escape/Attack.js"
import { type Places, type Setup, type Shape, write } from "../support/escape/World.js"

interface Trick extends Setup {
  readonly title: string
  /** Run in the first session. */
  readonly lay: string
  /** Run in the next one; nothing of it may show the secret. */
  readonly take: string
}

const isRoot = process.getuid?.() === 0

/** The next session says nothing of the secret, neither to a script nor to a command of its own. */
const spring = (ground: string, trick: Trick) =>
  scene(ground, trick.title, trick, (world) =>
    Effect.gen(function* () {
      const before = yield* world.attack(`${trick.lay}\ntrue`)
      assert.match(before.stdout, /^RAN$/m)
      yield* world.manager.shutdown
      const { stderr, stdout } = yield* world.attack(trick.take)
      assert.match(stdout, /^RAN$/m)
      assert.notInclude(`${stdout}${stderr}`, world.secret)
      assert.match(stderr, /Permission denied|EACCES/)
      assert.strictEqual(secretOf(world), "there")
    })
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
    lay: "mv pkg $'q\\xfe'; ln -s $'q\\xfe' $'l\\xff'; ln -s $'../l\\xff/.env' .attacks/.env",
    take: "cat $'l\\xff'/.env .attacks/.env $'q\\xfe'/.env; cat < $'q\\xfe/.env'"
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

const refusal = (world: Shape, command: string) => Effect.orDie(Effect.flip(world.manager.execute(command)))

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
        const error = yield* refusal(world, "chmod 755 .; ls -a")
        assert.include(error.message, `no sandbox: ${world.project}: it can't be searched`)
        assert.include(error.message, "chmod u+rwx")
        Fs.chmodSync(world.project, 0o755)
        const said = yield* world.attack("cat .env pkg/.env; echo on")
        assert.include(said.stdout, "on\n")
        assert.notInclude(said.stdout, world.secret)
      }),
    isRoot ? "nothing is hidden from root" : undefined
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

/** The user fills in what a dangling link leads to: no command reads it for long, in this session or the next. */
const dangling = (ground: string) => {
  const ways: Readonly<Record<string, readonly [string, string]>> = {
    "a relative link": ["ln -s ../settings.txt d/.env", "settings.txt"],
    "an absolute link, by way of another": ['ln -s "$PWD/d/two" d/.env; ln -s ../more.txt d/two', "more.txt"],
    "a link to a directory that is not there": ["ln -s ../later/on/conf.txt d/.env", "later/on/conf.txt"],
    "a link into a directory whose name is no UTF-8": ["mkdir $'n\\xff'; ln -s $'../n\\xff/c.txt' d/.env", "n?/c.txt"]
  }
  for (const [title, [lay, target]] of Object.entries(ways)) {
    scene(ground, `a dangling link: ${title}`, {}, (world) =>
      Effect.gen(function* () {
        const fill = () => {
          const [first = "", ...names] = target.split("/")
          const start = Fs.readdirSync(world.project, "buffer").find((name) =>
            first.includes("?") ? name[1] === 0xff : name.toString() === first
          )
          const at = Buffer.concat([Buffer.from(`${world.project}/`), start ?? Buffer.from(first)])
          const directory = [at, ...names.slice(0, -1).map((name) => Buffer.from(name))]
          const joined = Buffer.concat(
            directory.flatMap((part, index) => (index === 0 ? [part] : [Buffer.from("/"), part]))
          )
          const last = names.at(-1)
          if (last !== undefined) Fs.mkdirSync(joined, { recursive: true })
          const path = last === undefined ? joined : Buffer.concat([joined, Buffer.from(`/${last}`)])
          Fs.writeFileSync(path, `${world.secret}\n`)
        }
        yield* world.attack(`mkdir d; ${lay}`)
        yield* world.manager.shutdown
        yield* world.attack("true")
        fill()
        yield* eventually(world, `cat ${target}`)
        yield* world.manager.shutdown
        const next = yield* world.attack(`cat ${target}; cat d/.env`)
        assert.notInclude(next.stdout, world.secret)
      })
    )
  }
}

export const trees = (ground: string): void => {
  for (const trick of names) spring(ground, { ...trick, title: `names: ${trick.title}` })
  for (const trick of depths) spring(ground, { ...trick, title: `depths: ${trick.title}` })
  for (const trick of rights) spring(ground, { ...trick, title: `rights: ${trick.title}` })
  closedRoot(ground)
  links(ground)
  dangling(ground)
}
