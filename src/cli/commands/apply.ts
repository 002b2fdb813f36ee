import { sayNull } from '../../protocol/null-meaning.ts'
import type { Command } from 'commander'
import { UsageError } from '../lib/failure.ts'
import { collect, withJson, withServer, type ServerOptions } from '../lib/options.ts'
import type { PerformTask } from '../lib/perform-task.ts'
import type { Terminal } from '../lib/terminal.ts'

interface ApplyOptions extends ServerOptions {
  readonly file?: readonly string[]
  readonly plan?: true
  readonly yes?: true
  readonly prune?: true
  readonly print?: true
  readonly schema?: true
  readonly set?: string
  readonly release?: string
  readonly json?: true
}

/** The exit code of --plan when the store differs from the files. */
const DIFFERS = 3

/** `grantor apply`. Its parts are loaded by its action, because `serve` needs none of them. */
export function addApply(parent: Command, terminal: Terminal): void {
  withServer(withJson(parent.command('apply')))
    .description('Make the organizations, APIs, domains, providers and clients of files as the files describe them.')
    .option('-f, --file <file>', 'a file in YAML or JSON; several are one set', collect)
    .option('--plan', 'print what would change, and change nothing; exit code 3: something would')
    .option('--yes', 'apply without asking')
    .option('--prune', 'also delete what the set applied before and the files no longer name')
    .option('--print', 'print what is in the store in the form of a file')
    .option('--set <name>', 'with --print: only the records of this set')
    .option('--schema', 'print the JSON Schema of a file')
    .option('--release <set>', 'remove a set; its records stay, and another set can take them over')
    .action(async (options: ApplyOptions) => {
      requireOne(options)
      if (options.schema) return printSchema(terminal)
      const { withTasks } = await import('../lib/perform-task.ts')
      const whenMissing = options.file === undefined || options.plan ? 'refuse' : 'create'
      if (options.file === undefined)
        return withTasks(terminal, options, whenMissing, (as) => performOther(as(nameless), options, terminal))
      const { readFiles } = await import('../apply/document.ts')
      const files = await readFiles(options.file, terminal, options.plan ? 'named' : 'read')
      const code = await withTasks(terminal, options, whenMissing, async (performAs) => {
        const { makePlan, requirePossible } = await import('../apply/plan.ts')
        const { changeDocument, planDocument, planLines } = await import('../apply/print.ts')
        const perform = performAs(nameless)
        const plan = await makePlan(files, perform, { prune: options.prune === true })
        const isDone = plan.changes.length + plan.secrets.length === 0
        if (!options.json) terminal.print(planLines(plan, terminal.paint))
        if (options.plan || plan.refusals.length > 0) {
          if (options.json) terminal.printJson(planDocument(plan))
          requirePossible(plan)
          return plan.changes.length === 0 ? 0 : DIFFERS
        }
        if (!isDone && !(await isConfirmed(options, terminal))) {
          terminal.print(['Nothing was changed.'])
          return 1
        }
        const { runPlan } = await import('../apply/run.ts')
        const { done, replaced, failure } = await runPlan(plan, perform)
        const secrets = replaced.map(({ kind, key }) => ({ kind: kind.name, key }))
        if (options.json) {
          const complete = failure === undefined
          terminal.printJson({
            ...planDocument(plan),
            done: done.map(changeDocument),
            replaced_secrets: secrets,
            complete,
          })
        } else if (done.length + secrets.length > 0) {
          terminal.print([
            ...secrets.map(({ kind, key }) => `The secret of the ${kind} ${key} was replaced.`),
            `Made ${done.length} of ${plan.changes.length} ${plan.changes.length === 1 ? 'change' : 'changes'}.`,
          ])
        }
        if (failure !== undefined) throw failure
        return 0
      })
      if (code !== 0) process.exitCode = code
    })
}

function nameless(): undefined {
  return undefined
}

function requireOne({ file, print, schema, release, set, plan, prune, yes }: ApplyOptions): void {
  const given = [file, print, schema, release].filter((one) => one !== undefined)
  if (given.length !== 1) throw new UsageError('Give -f <file>, --print, --schema or --release <set>. See --help.')
  if (set !== undefined && print === undefined) throw new UsageError('--set is for --print. A file names its set.')
  if (file === undefined && (plan ?? prune ?? (release === undefined ? yes : undefined)) !== undefined)
    throw new UsageError('--plan, --prune and --yes are for -f <file>.')
  if (plan && yes) throw new UsageError('--plan changes nothing: leave --yes out.')
}

async function performOther(
  perform: PerformTask,
  { release, set, json }: ApplyOptions,
  terminal: Terminal,
): Promise<void> {
  if (release !== undefined) {
    const answer = await perform<{ readonly set: string; readonly released: number }>('apply.release', { set: release })
    if (json) terminal.printJson(answer)
    else terminal.print([`The set ${answer.set} was removed. Its records stay: ${answer.released}.`])
    return
  }
  const { printStore } = await import('../apply/print.ts')
  const document = await printStore(perform, set)
  if (json) return terminal.printJson(document)
  const { stringify } = await import('yaml')
  terminal.print([stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 }).trimEnd()])
}

async function printSchema(terminal: Terminal): Promise<void> {
  const [{ FILE }, z] = await Promise.all([import('../apply/document.ts'), import('zod')])
  terminal.printJson(z.toJSONSchema(FILE, { io: 'input', override: sayNull }))
}

/** A terminal asks; a program says --yes. */
async function isConfirmed({ yes, json }: ApplyOptions, { stdin }: Terminal): Promise<boolean> {
  if (yes) return true
  if (stdin.isTTY !== true || json) throw new UsageError('Nothing was changed. To apply the plan, add --yes.')
  const { confirm } = await import('@clack/prompts')
  return (await confirm({ message: 'Apply?', initialValue: false, output: process.stderr })) === true
}
