import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A page whose commands run in one shell, and whose outputs are compared with those of the shell. */
export interface Replay {
  readonly page: string
  /** The folder for the shell's outputs, and the TMPDIR of the commands. */
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  /** After this time the shell and all processes that it started are ended. */
  readonly limitMs: number
  /** The program that gets the path of the script. undefined: bash. */
  readonly shell?: readonly string[]
  /** Whether commands may print what the page does not show, if it shows no output of them. */
  readonly mayPrint?: boolean
}

interface Step {
  /** The line of the page at which the commands begin. */
  readonly line: number
  readonly commands: string
  /** The lines of the following output block. Empty if more commands follow. */
  readonly shown: readonly string[]
}

/** Describes every difference between the page and the shell. Returns an empty list if there is none. */
export async function replay({
  page,
  folder,
  environment,
  limitMs,
  shell: [program = '', ...words] = ['bash'],
  mayPrint = false,
}: Replay): Promise<readonly string[]> {
  const steps = readSteps(page)
  const script = join(folder, 'page.sh')
  writeFileSync(script, scriptOf(steps, folder))
  // The shell has a process group of its own, because a page that fails after it started a server leaves the server running.
  const shell = spawn(program, [...words, script], {
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
  const faults = steps.flatMap((step, index) => compareStep(step, join(folder, `step-${index}`), mayPrint))
  if (code === 0) return faults
  const how = code === null ? `was ended after ${limitMs / 1000} s` : `ended with ${code}`
  return [...faults, `The shell ${how}. ${complaints}`]
}

/** The `sh` blocks of the page, each with the output block that follows it. A block `sh example` is neither. */
function readSteps(page: string): readonly Step[] {
  const steps: Step[] = []
  for (const { 1: language, 2: text = '', index } of page.matchAll(/^```([\w ]*)\n([^]*?)^```$/gm)) {
    if (language === 'sh example') continue
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

/** The script of all steps, for one shell. Each step also writes the variables that its output names. The script ends at the first failure. */
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

function compareStep({ line, commands, shown }: Step, file: string, mayPrint: boolean): readonly string[] {
  // The previous step failed.
  if (!existsSync(`${file}.said`)) return []
  const said = readFileSync(`${file}.said`, 'utf8').trimEnd()
  if (!existsSync(`${file}.values`)) return [`Line ${line}: this failed:\n${commands}and said:\n${said}`]
  if (mayPrint && shown.length === 0) return []
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

/** The pattern of a shown line: `…` matches any text, `$name` the value of the shell's variable. */
function patternOf(shown: string, values: ReadonlyMap<string, string>): RegExp {
  const filled = even(shown).replaceAll(VARIABLE, (whole, name: string) => values.get(name) || whole)
  return new RegExp(
    `^${filled
      .split('…')
      .map((text) => RegExp.escape(text))
      .join('.+')}$`,
  )
}

/** Reduces runs of spaces to one. The width of a column depends on its ids, which the page replaces with variable names. */
function even(line: string): string {
  return line.replaceAll(/ {2,}/g, ' ').trimEnd()
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (cause) {
    // All processes of the group have ended.
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause
  }
}
