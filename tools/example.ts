import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPerson, type Person, type Shown } from './person.ts'

/** An example that runs as its reader starts it. */
export interface Example {
  /** Resolves to the first match of a pattern in what it prints. @throws Error if it ends before */
  readonly printed: (pattern: RegExp) => Promise<readonly string[]>
  /** Presses Ctrl-C. Resolves to the exit code and the files that the example left. */
  readonly interrupt: () => Promise<{ readonly code: number | null; readonly left: readonly string[] }>
}

/** Starts an example of the folder of this name. */
export function startExample(
  t: { readonly after: (end: () => Promise<void>) => void },
  name: string,
  environment: Readonly<Record<string, string>>,
): Example {
  const folder = mkdtempSync(join(tmpdir(), 'grantor-test-'))
  const child = spawn(process.execPath, ['start.js'], {
    cwd: join('examples', name),
    env: { ...process.env, ...environment, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let hasEnded = false
  const ended = once(child, 'close').then(([code]) => {
    hasEnded = true
    return code as number | null
  })
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  t.after(async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    async printed(pattern) {
      for (;;) {
        const found = pattern.exec(output)
        if (found !== null) return found.slice(1)
        if (hasEnded) throw new Error(`The example ended:\n${output}`)
        await Promise.race([once(child.stdout, 'data'), ended])
      }
    },
    async interrupt() {
      child.kill('SIGINT')
      const code = await ended
      return { code, left: existsSync(folder) ? readdirSync(folder) : [] }
    },
  }
}

/** The user of an example in a browser, who signs in where it is asked and consents. `choices`: fields of the consent page. */
export function openExampleUser(
  issuer: string,
  [email, password]: readonly [email: string, password: string],
): {
  readonly person: Person
  readonly allow: (link: string | URL, choices: Readonly<Record<string, string>>) => Promise<Shown>
} {
  const person = openPerson(issuer)
  return {
    person,
    async allow(link, choices) {
      let shown = await person.visit(link)
      if (shown.body.includes('type="password"')) shown = await person.submit(shown, { email, password })
      return shown.body.includes('value="allow"') ? person.submit(shown, { ...choices, decision: 'allow' }) : shown
    },
  }
}
