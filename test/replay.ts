import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A page whose commands are typed into one shell, and whose outputs are compared with what that shell says. */
export interface Replay {
  readonly page: string
  /** Where the shell keeps what it says; the commands' own TMPDIR too. */
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  /** Then the shell and all that it started are ended. */
  readonly limitMs: number
}

interface Step {
  /** Of the page, where the commands begin. */
  readonly line: number
  readonly commands: string
  /** What the next block shows; nothing when more commands follow. */
  readonly shown: readonly string[]
}

/** Everything that is otherwise than the page says, in words. Empty: it is as the page says. */
export async function replay({ page, folder, environment, limitMs }: Replay): Promise<readonly string[]> {
  const steps = readSteps(page)
  const script = join(folder, 'page.sh')
  writeFileSync(script, scriptOf(steps, folder))
  // A group of its own: a page that starts a server and then fails leaves it behind.
  const shell = spawn('bash', [script], {
    env: { ...environment, TMPDIR: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  let complaints = ''
  shell.stderr.on('data', (chunk: Buffer) => void (complaints += chunk.toString()))
  const timer = setTimeout(() => endGroup(shell.pid), limitMs)
  const [code] = (await once(shell, 'exit')) as [number | null]
  clearTimeout(timer)
  endGroup(shell.pid)
  const faults = steps.flatMap((step, index) => judge(step, join(folder, `step-${index}`)))
  if (code === 0) return faults
  const how = code === null ? `was ended after ${limitMs / 1000} s` : `ended with ${code}`
  return [...faults, `The shell ${how}. ${complaints}`]
}

/** Blocks of `sh`, each with the block of anything else that follows it. */
function readSteps(page: string): readonly Step[] {
  const steps: Step[] = []
  for (const { 1: language, 2: text = '', index } of page.matchAll(/^```(\w*)\n([^]*?)^```$/gm)) {
    if (language === 'sh') {
      const line = page.slice(0, index).split('\n').length + 1
      steps.push({ line, commands: text, shown: [] })
    } else {
      const step = steps.pop()
      if (step === undefined || step.shown.length > 0) throw new Error(`An output has no command: ${text}`)
      steps.push({ ...step, shown: text.trimEnd().split('\n') })
    }
  }
  return steps
}

/** Each step in the same shell; then the values of the variables that its output names. The first that fails is the last. */
function scriptOf(steps: readonly Step[], folder: string): string {
  const parts = steps.map(({ commands, shown }, index) => {
    const file = join(folder, `step-${index}`)
    const values = namesIn(shown).map((name) => `printf '%s=%s\\n' ${name} "$${name}" >> '${file}.values'`)
    return [`{\n${commands}} > '${file}.said' 2>&1`, `: > '${file}.values'`, ...values].join('\n')
  })
  return ['set -euo pipefail', ...parts, ''].join('\n')
}

function namesIn(shown: readonly string[]): readonly string[] {
  return [...new Set(shown.flatMap((line) => [...line.matchAll(VARIABLE)].map(([, name = '']) => name)))]
}

const VARIABLE = /\$([a-z_]+)/g

function judge({ line, commands, shown }: Step, file: string): readonly string[] {
  // The step before it failed.
  if (!existsSync(`${file}.said`)) return []
  const said = readFileSync(`${file}.said`, 'utf8').trimEnd()
  if (!existsSync(`${file}.values`)) return [`Line ${line}: this failed:\n${commands}and said:\n${said}`]
  const values = new Map(
    readFileSync(`${file}.values`, 'utf8')
      .split('\n')
      .map((row) => [row.slice(0, row.indexOf('=')), row.slice(row.indexOf('=') + 1)]),
  )
  const lines = said === '' ? [] : said.split('\n')
  const length = Math.max(lines.length, shown.length)
  return Array.from({ length }, (_, index) => [shown[index], lines[index]] as const)
    .filter(
      ([wanted, real]) => wanted === undefined || real === undefined || !patternOf(wanted, values).test(even(real)),
    )
    .map(
      ([wanted, real]) =>
        `Line ${line}: the page shows\n  ${wanted ?? '(nothing)'}\nbut it says\n  ${real ?? '(nothing)'}`,
    )
}

/** A shown line: `…` is anything, `$name` is what the shell has in it. */
function patternOf(shown: string, values: ReadonlyMap<string, string>): RegExp {
  const filled = even(shown).replaceAll(VARIABLE, (whole, name: string) => values.get(name) || whole)
  return new RegExp(
    `^${filled
      .split('…')
      .map((text) => RegExp.escape(text))
      .join('.+')}$`,
  )
}

/** Columns are as wide as ids, and the page shows names of variables: how many spaces that takes says nothing. */
function even(line: string): string {
  return line.replaceAll(/ {2,}/g, ' ').trimEnd()
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (cause) {
    // All of them have ended.
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause
  }
}
