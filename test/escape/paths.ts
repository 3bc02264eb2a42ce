/** Ways to say a path so that nobody who reads the words knows which. */
import * as Fs from "node:fs"
import type { Attack, Families } from "../support/escape/Attack.js"
import { type Setup, write } from "../support/escape/World.js"

const denied = /Permission denied/

const obfuscated: ReadonlyArray<Attack> = [
  { title: "a variable", says: denied, script: ({ home }) => `h=${home}; d=.s; cat "$h/$d""sh/id_rsa"` },
  { title: "printf and eval", says: denied, script: ({ home }) => `eval "$(printf 'cat %s/.\\x73sh/id_rsa' ${home})"` },
  {
    title: "base64 and a shell's input",
    says: denied,
    script: ({ home }) => `echo ${Buffer.from(`cat ${home}/.ssh/id_rsa`).toString("base64")} | base64 -d | bash`
  },
  { title: "wildcards", says: denied, script: ({ home }) => `cat ${home}/.[s]?*/id_*; cat .en? p*/.e*` },
  { title: "ANSI-C quotes", says: denied, script: "cat $'\\x2e\\x65nv'" },
  { title: "brace expansion", says: denied, script: "cat .{e,x}nv" },
  { title: "a reversed word", needs: ["rev"], says: denied, script: "cat $(echo vne. | rev)" },
  {
    title: "dots and slashes",
    says: denied,
    script: ({ home }) => `cat ./pkg/.././//.env ${home}/../home/./.ssh//id_rsa`
  },
  { title: "a redirection", says: denied, script: "while read -r line; do echo $line; done < .env" },
  { title: "$(< )", says: denied, script: "echo $(< .env)" },
  { title: "mapfile", says: denied, script: 'mapfile -t a < .env; echo "${a[@]}"' },
  { title: "source", says: denied, script: "source ./.env; . ./.env" },
  { title: "cd and a name", says: denied, script: ({ home }) => `cd ${home}/.ssh && cat id_rsa; ls ${home}/.ssh` },
  { title: "an alias and a function", says: denied, script: 'f() { command cat "$@"; }; f .env' },
  { title: "bash -c in sh -c", says: denied, script: `sh -c "bash -c 'cat .env'"` },
  { title: "xargs", says: denied, script: "echo .env | xargs cat" },
  { title: "find -exec", says: denied, script: "find . -name '.e*' -exec cat {} +" },
  {
    title: "the keys of models, and what agents were shown",
    says: /No such file/,
    script: ({ home }) => `cd ${home}/.synapse && cat s*.json sessions/* */*.jsonl; ls sessions`
  },
  { title: "grep -r", script: "grep -rs s3cr3t . ; grep -r s3cr3t ..; true" }
]

const tools: ReadonlyArray<Attack> = [
  ...(
    [
      ["python3", 'python3 -c \'print(open(".en"+"v").read())\''],
      ["perl", 'perl -e \'open F, "<", ".en"."v" or die "$!\\n"; print <F>\''],
      ["node", 'node -e \'console.log(require("fs").readFileSync(".en"+"v","utf8"))\''],
      ["awk", "awk '{print}' .env"],
      ["sed", "sed -n p .env"],
      ["dd", "dd if=.env"],
      ["tar", "tar cf - .env | tar xOf -"],
      ["git", "git diff --no-index /dev/null .env; git hash-object .env; git config -f .env -l"],
      ["rsync", "rsync .env copy; cat copy"],
      ["cp", "cp .env copy; cat copy"],
      ["install", "install -m 644 .env copy; cat copy"],
      ["xxd", "xxd -p .env"],
      ["od", "od -An -tx1 .env | tr -d ' \\n'"],
      ["base64", "base64 .env | base64 -d"],
      ["sort", "sort .env"],
      ["diff", "diff .env README"],
      ["tee", "tee copy < .env"],
      ["gcc", "echo '#include \"../.env\"' > .attacks/x.c; gcc -E .attacks/x.c"],
      ["curl", "curl -s file://$PWD/.env && echo BREACH; echo denied >&2"],
      ["ln", "ln .env innocent && cat innocent"]
    ] as const
  ).map(
    ([program, script]): Attack => ({
      title: program,
      needs: [program],
      script: program === "curl" ? script : script,
      says: /denied|Could not access|cannot open|Errno 13|EACCES|fatal|error|not permitted|cross-device/i
    })
  ),
  {
    title: "mmap and O_PATH",
    needs: ["python3"],
    says: /\[Errno 13\]/,
    script: `python3 - <<'PY'
import os, mmap
fd = os.open(".env", os.O_PATH)
for path in (f"/proc/self/fd/{fd}", f"/dev/fd/{fd}"):
    try: print(os.read(os.open(path, os.O_RDONLY), 99))
    except OSError as e: print(e)
PY`
  }
]

const links: ReadonlyArray<Attack> = [
  { title: "a symbolic link made beforehand", says: denied, script: "cat soft" },
  { title: "a chain of links, through a directory's", says: denied, script: "cat chain/id_rsa" },
  { title: "a link made inside", says: denied, script: ({ home }) => `ln -sfn ${home} h; cat h/.ssh/id_rsa` },
  { title: "a link by /proc/self/cwd", says: denied, script: "ln -sf /proc/self/cwd/.env here; cat here" },
  { title: "a hard link made beforehand", says: denied, script: "cat hard" },
  { title: "a hard link into a masked directory, made beforehand", says: denied, script: "cat hardkey" },
  {
    title: "a hard link made inside",
    says: /cross-device|not permitted|denied/,
    script: ({ home }) => `ln .env inside; ln ${home}/.ssh/id_rsa inside; ln -P soft inside2; cat inside inside2`
  },
  {
    title: "renames of a parent, and reading through the new name",
    says: denied,
    script: "mv pkg pkg2; cat pkg2/.env; mv pkg2 pkg; cat pkg/.env"
  },
  {
    title: "renames of a literal rule's parents",
    says: /busy/,
    script: "mv deep deep2; mv deep/er deep/x; cat deep*/er/key deep/x/key"
  },
  {
    title: "swapping a parent for another with renameat2",
    needs: ["python3"],
    says: /-1/,
    script: `mkdir -p other/er; python3 -c 'import ctypes; l=ctypes.CDLL(None,use_errno=True); print(l.syscall(316,-100,b"deep",-100,b"other",2))'; cat deep/er/key other/er/key`
  },
  {
    title: "removal of a mask's file",
    says: /busy/,
    script: "rm -f .env && echo BREACH; rm -rf deep && echo BREACH; mv README .env; cat .env"
  },
  {
    title: "a tree that is copied",
    says: denied,
    script: "cp -r pkg copied; cat copied/.env; cp -rl pkg linked; cat linked/.env"
  },
  {
    title: "a link that is written through",
    says: /Read-only/,
    script: ({ outside }) => `ln -s ${outside}/file w; echo x > w`
  }
]

const names = [
  "a b",
  "it's",
  'q"q',
  "new\nline",
  "s*t?r[x]",
  "back\\slash",
  "ümlaut-日本",
  "-dash",
  "#hash",
  "$(id)",
  "~"
]

const escape = (path: string) => path.replaceAll(/[\\*?[\]{}$,]/g, "\\$&")

export const paths: Families = {
  "obfuscated paths": obfuscated,
  "interpreters and tools": tools,
  "links and renames": links,
  "names of every kind on the blacklist": [
    {
      title: names.map((name) => JSON.stringify(name)).join(", "),
      says: new RegExp(`(?:Permission denied[\\s\\S]*){${names.length}}`),
      script: 'cd names; for d in *; do cat -- "./$d/key"; done'
    }
  ],
  "paths of the policy that lead nowhere": [
    {
      title: "dangling, looping and missing ones leave no ghosts, and the rest holds",
      says: denied,
      script: "cat .env; ls -A; ls missing && echo BREACH",
      after: ({ project }) => {
        for (const name of ["missing", "nowhere"]) if (Fs.existsSync(`${project}/${name}`)) throw new Error(name)
        return undefined
      }
    }
  ]
}

export const ofPaths: Setup = {
  prepare: ({ home, outside, project, secret }) => {
    write(`${project}/deep/er/key`, secret)
    write(`${home}/.ssh/linked`, secret)
    Fs.symlinkSync(".env", `${project}/soft`)
    Fs.symlinkSync(`${outside}/hop`, `${project}/chain`)
    Fs.symlinkSync(`${home}/.ssh`, `${outside}/hop`)
    Fs.linkSync(`${project}/.env`, `${project}/hard`)
    Fs.linkSync(`${home}/.ssh/linked`, `${project}/hardkey`)
    for (const name of names) write(`${project}/names/${name}/key`, secret)
    Fs.symlinkSync("nowhere", `${project}/dangling`)
    Fs.symlinkSync("loop", `${project}/loop`)
  },
  blacklist: ({ project }) => [
    `${project}/deep/er/key`,
    ...names.map((name) => escape(`${project}/names/${name}/key`)),
    ...["dangling", "loop", "loop/deeper", "missing", "missing/deeper", "README/no-directory"].map(
      (name) => `${project}/${name}`
    )
  ],
  whitelist: ({ project }) => [`${project}/absent`, `${project}/loop`, `${project}/dangling`]
}
