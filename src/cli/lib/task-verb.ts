import type { Command } from 'commander'
import type { ServerDocument } from '../../admin/server.ts'
import { isReading, pathParameters, slotText, type Task } from '../../admin/task.ts'
import { TASKS } from '../../admin/tasks.ts'
import { filled } from '../../texts/task-words.ts'
import type { Names } from '../../admin/names.ts'
import { onStopSignal } from '../serve/close-on-signal.ts'
import { columns, facts, formatTime, record, visible } from './columns.ts'
import { forShell } from '../../base/shell.ts'
import { definedMembers } from '../../base/json.ts'
import { UsageError } from './failure.ts'
import { jwtNotice } from './jwt-notice.ts'
import { addMemberOptions, type MemberOptions, type OptionRows } from './member-options.ts'
import { requireTask, withTasks, type Members } from './perform-task.ts'
import { filtersOf, ORGANIZATION, subjectsOf, type Subject } from './subjects.ts'
import type { Terminal } from './terminal.ts'
import { nextPage, optionNameOf, subjectOf, withJson, withServer, type ServerOptions } from './options.ts'

/** Adds a verb to its noun. */
export interface AddVerb {
  (noun: Command, terminal: Terminal): void
  /** The task that it performs, if it is one. */
  readonly task?: string
  /** What it prints of an answer. `command`: the verb in its noun. */
  readonly linesOf?: (answer: object, command: Command, terminal: Terminal) => readonly string[]
}

/** The description of an option that is an alternative to an argument. */
export const SAME_AS_ARGUMENT = 'the same value as the argument, given as an option'

/** The options of every verb, as commander returns them. */
export interface CommonOptions extends ServerOptions {
  readonly json?: true
}

/** A verb that performs one task of the table. Its description is the summary of the task. */
export interface TaskVerb<Answer, Options extends object = object> {
  /** The name of the task: `user.disable`. */
  readonly task: string
  /** By default the last part of the name of the task: `disable`. */
  readonly verb?: string
  /** The same task for one organization, performed when `--organization` is given, or `withinOption`. */
  readonly within?: string
  /** The option instead of `--organization`. */
  readonly withinOption?: 'of'
  /** The records that the verb is about, in the order of the arguments. By default those in the path of the task. */
  readonly subjects?: readonly Subject[]
  /** Members of the input that are records, each of which is an option only: filters, or the record that another one is about. */
  readonly filters?: readonly Subject[]
  /** Where the options of members differ from what their schemas say. */
  readonly members?: OptionRows
  /** Adds options and arguments that are not a member of the input, or are read in another way. */
  readonly options?: (command: Command) => Command
  /** Returns the members of the input besides those of subjects and of options that follow from schemas. It prompts and rejects before the store is opened. */
  readonly input?: (
    options: Options,
    terminal: Terminal,
    /** The arguments, for verbs without subjects. */
    alone: readonly string[],
  ) => Members | Promise<Members>
  /** For a task of which a call does only a part: without `--json` the calls follow each other, until the end or Ctrl-C. */
  readonly parts?: Parts<Answer>
  /** Lines after what the task says that it did, which follow from the answer. */
  readonly adds?: (answer: Answer, terminal: Terminal) => readonly string[]
  /** The text that is printed without `--json`, where an answer is laid out. By default what the task says; of one that reads, every member on a line of its own. */
  readonly say?: (answer: Answer, terminal: Terminal, server: ServerDocument | undefined) => string | readonly string[]
  /** `say` also gets what `server.show` answers, where a server is asked. A command beside the servers does not know their settings. */
  readonly saysSettings?: true
  /** The exit code, for answers that are not a success although the command did not fail. */
  readonly exitCode?: (answer: Answer) => number
}

/** How the calls of a task follow each other. */
export interface Parts<Answer> {
  /** Adds an answer to the sum of those before. */
  readonly add: (sum: Answer, part: Answer) => Answer
  /** The members of the next call that differ from the first one; undefined: it was the last one. `input`: of the first call. */
  readonly next: (sum: Answer, input: Members) => Members | undefined
  /** What is said on standard error before the next call. */
  readonly progress: (sum: Answer) => string
  /** What the sum is when Ctrl-C ended the calls. */
  readonly stopped: (sum: Answer) => Answer
}

/** The exit code of a command that Ctrl-C ended, as shells have it. */
const INTERRUPTED = 130

/** A verb that performs one task, over the store or at a server. `--json` prints the task's output. */
export function taskVerb<Answer extends object, Options extends object = object>(
  verb: TaskVerb<Answer, Options>,
): AddVerb {
  const add: AddVerb = (noun, terminal) => {
    const task = requireTask(verb.task)
    const { within, subjects = subjectsOf(task) } = verb
    const filters = [
      ...(within === undefined ? [] : [{ ...WITHIN, name: verb.withinOption ?? WITHIN.name }]),
      ...(verb.filters ?? []),
    ]
    const command = withServer(withJson(noun.command(verb.verb ?? verbOf(task)))).description(task.summary)
    for (const { name, argument = name, placeholder, meaning } of subjects) {
      command.argument(`[${argument}]`, meaning).option(`--${name} ${placeholder}`, SAME_AS_ARGUMENT)
    }
    for (const { name, placeholder, meaning } of filters) command.option(`--${name} ${placeholder}`, meaning)
    const others = new Set([...pathParameters(task), ...[...subjects, ...filters].flatMap(({ members }) => members)])
    const members = addMemberOptions(command, task, { rows: verb.members ?? {}, others })
    verb.options?.(command)
    command.action(() => {
      const typed = [...readFilters(filters, command), ...readSubjects(subjects, command)]
      return performVerb(verb, command, terminal, typed, members)
    })
  }
  return Object.assign(add, {
    task: verb.task,
    linesOf: (answer: object, command: Command, terminal: Terminal) =>
      linesOf(verb, answer as Answer, {
        task: verb.task,
        command,
        terminal,
        settings: undefined,
        names: new Map(),
        given: answer as Members,
      }),
  })
}

/**
 * The verbs of a noun, in the order of the tasks: its rows, and a verb for each other task of the nouns. A task of another noun than the first
 * has the name of it, too: `disable-member`.
 */
export function verbsOf(
  nouns: readonly [own: string, ...others: string[]],
  rows: readonly AddVerb[],
): readonly AddVerb[] {
  const byTask = Map.groupBy(rows, ({ task }) => task)
  const verbs = TASKS.flatMap((task): readonly AddVerb[] => {
    const [noun = ''] = task.name.split('.', 1)
    const isLeft = !nouns.includes(noun) || isWithin(task)
    const verb = noun === nouns[0] ? verbOf(task) : `${verbOf(task)}-${noun}`
    const within = withinOf(task)
    const own = { task: task.name, verb, ...(within === undefined ? {} : { within }) }
    return byTask.get(task.name) ?? (isLeft ? [] : [taskVerb(own)])
  })
  return [...verbs, ...(byTask.get(undefined) ?? [])]
}

/** The same task for one organization, which `--organization` performs: `organization.revoke-grant`, `member.unlock`. */
function withinOf({ name, output }: Task): string | undefined {
  const [noun = '', verb = ''] = name.split('.', 2)
  const named = `organization.${verb}-${noun}`
  const names = noun === 'user' ? [`member.${verb}`] : [named, `${named}s`]
  return TASKS.find((one) => one.output === output && names.includes(one.name))?.name
}

/** Whether a task is that of another noun for one organization. */
function isWithin({ name }: Task): boolean {
  return TASKS.some((one) => withinOf(one) === name)
}

function verbOf({ name }: Task): string {
  return name.slice(name.indexOf('.') + 1)
}

async function performVerb<Answer extends object, Options extends object>(
  verb: TaskVerb<Answer, Options>,
  command: Command,
  terminal: Terminal,
  about: readonly TypedSubject[],
  { read, longNameOf }: MemberOptions,
): Promise<void> {
  const options = command.opts<Options & CommonOptions & { readonly organization?: string; readonly of?: string }>()
  const input = { ...read(command), ...definedMembers((await verb.input?.(options, terminal, command.args)) ?? {}) }
  if (requireTask(verb.task).method === 'PATCH' && about.length + Object.keys(input).length < 2) {
    throw new UsageError('Give at least one change. See --help.')
  }
  const names = new Map<string, string>()
  const members: Record<string, unknown> = { ...input }
  const task =
    verb.within === undefined || options[verb.withinOption ?? 'organization'] === undefined ? verb.task : verb.within
  const whenMissing = verb.task.endsWith('.create') ? 'create' : 'refuse'
  const needsSettings = verb.saysSettings === true && options.server !== undefined && !options.json
  let settings: ServerDocument | undefined
  const answer = await withTasks(terminal, options, whenMissing, async (performAs) => {
    const optionNames = new Map<string, string>()
    for (const { find, text, optionName } of about) {
      const perform = performAs((member) => optionNames.get(member) ?? optionName)
      const found = await find(text, perform, members)
      for (const [member, id] of Object.entries(found)) {
        optionNames.set(member, optionName)
        if (id !== text) names.set(String(id), visible(text))
      }
      Object.assign(members, found)
    }
    const perform = performAs(
      (member) => optionNames.get(member) ?? longNameOf(member) ?? optionNameOf(command, member),
    )
    if (verb.parts === undefined || options.json) {
      const answered = await perform<Answer>(task, members)
      if (needsSettings) settings = await perform<ServerDocument>('server.show', {})
      return answered
    }
    return performParts(verb.parts, members, terminal, (part) => perform<Answer>(task, part))
  })
  if (options.json) terminal.printJson(answer)
  else {
    const given = { ...answer, ...members }
    terminal.print(linesOf(verb, answer, { task, command, terminal, settings, names, given }))
  }
  const code = verb.exitCode?.(answer) ?? 0
  if (code !== 0) process.exitCode = code
}

async function performParts<Answer extends object>(
  { add, next, progress, stopped }: Parts<Answer>,
  input: Members,
  terminal: Terminal,
  perform: (input: Members) => Promise<Answer>,
): Promise<Answer> {
  let isStopped = false
  const ignoreSignals = onStopSignal(process, () => (isStopped = true))
  try {
    let sum: Answer = await perform(input)
    for (let more = next(sum, input); more !== undefined; more = next(sum, input)) {
      if (isStopped) {
        process.exitCode = INTERRUPTED
        return stopped(sum)
      }
      terminal.complain(`${progress(sum)}\n`)
      sum = add(sum, await perform({ ...input, ...more }))
    }
    return sum
  } finally {
    ignoreSignals()
  }
}

/** What is known besides the answer. */
interface Beside {
  /** The task that was performed: that of the verb, or the same one for one organization. */
  readonly task: string
  readonly command: Command
  readonly terminal: Terminal
  readonly settings: ServerDocument | undefined
  /** What was typed instead of ids. */
  readonly names: Map<string, string>
  /** What the command that takes the task back is given. */
  readonly given: Members
}

function linesOf<Answer extends object>(
  { say, adds }: Pick<TaskVerb<Answer>, 'say' | 'adds'>,
  answer: Answer,
  beside: Beside,
): readonly string[] {
  const { command, given, names, settings, terminal } = beside
  const task = requireTask(beside.task)
  const { notice } = answer as { readonly notice?: unknown }
  const back = wayBack(command, task, given)
  nameObject(names, task, answer as Members)
  const lines =
    say !== undefined
      ? [say(answer, terminal, settings)].flat()
      : task.words.done === ''
        ? record(answer, terminal.paint)
        : [
            `${doneSentence(task, answer)}${back === undefined ? '' : ` To undo this: ${back}`}`,
            ...(task.words.undoNote === undefined ? [] : [task.words.undoNote]),
            ...secretLines(task, answer as Members, terminal),
            ...(adds?.(answer, terminal) ?? []),
            ...(typeof notice === 'string' ? [notice] : []),
          ]
  return [...withNames(lines, names), ...jwtNotice(answer, beside.task)]
}

/** What a task says that it did. */
export function doneSentence({ words }: Pick<Task, 'words'>, answer: object): string {
  return filled(words.done, (slot) => visible(slotText(answer, slot, (iso) => `${formatTime(iso)} UTC`)))
}

/** A secret, alone in its line, or with what belongs to it. */
function secretLines({ secret, words }: Task, answer: Members, { paint }: Terminal): readonly string[] {
  if (secret === undefined || typeof answer[secret.member] !== 'string') return []
  const { member, beside = [] } = secret
  const values = [...beside, member].map((one): [string, string] => [one, String(answer[one])])
  const shown = beside.length === 0 ? values.map(([, value]) => value) : facts(values, paint)
  return [
    `The ${member.replaceAll('_', ' ')}, which is not shown again:`,
    ...shown.map((line) => `  ${line}`),
    ...(words.use === undefined ? [] : [words.use]),
  ]
}

/** The verb of the same noun that takes a task back, with ids, because another client can have a name by then; undefined: none does, or the task itself does. */
function wayBack(command: Command, { name, undo }: Task, given: Members): string | undefined {
  if (undo === undefined || undo === name) return undefined
  const task = requireTask(undo)
  const noun = command.parent
  const [ofTask = ''] = undo.split('.', 1)
  const named = (verb: string) => noun?.commands.find((one) => one.name() === verb)
  const verb = named(`${verbOf(task)}-${ofTask}`) ?? named(verbOf(task))
  const subjects = pathParameters(task).map((one) =>
    given[one] === undefined ? `<${one}>` : forShell(given[one] as string),
  )
  return ['grantor', noun?.name(), verb?.name(), ...subjects].join(' ')
}

/** By the noun of a task, the id of its object and what it is called. */
const CALLED: Readonly<Record<string, readonly [id: string, name: string]>> = {
  user: ['user_id', 'email'],
  member: ['user_id', 'email'],
  organization: ['organization_id', 'name'],
  provider: ['provider_id', 'name'],
}

/** Adds the name of the object that was typed by its id. */
function nameObject(names: Map<string, string>, task: Task, answer: Members): void {
  if (isReading(task)) return
  const [id = '', called = ''] = CALLED[task.name.slice(0, task.name.indexOf('.'))] ?? []
  const [object, text] = [answer[id], answer[called]]
  if (typeof object === 'string' && typeof text === 'string' && !names.has(object)) names.set(object, visible(text))
}

/** Puts the typed name before its id, once in the first line, and not inside a command to copy. */
function withNames([first = '', ...rest]: readonly string[], names: ReadonlyMap<string, string>): readonly string[] {
  const end = first.indexOf('grantor ')
  let [words, hint] = end === -1 ? [first, ''] : [first.slice(0, end), first.slice(end)]
  for (const [id, name] of names) if (!words.includes(name)) words = words.replace(id, () => `${name} (${id})`)
  return [words + hint, ...rest]
}

/** A subject that was typed, alone or behind its option: `<id>` or `--id`. */
interface TypedSubject extends Pick<Subject, 'find'> {
  readonly text: string
  readonly optionName: string
}

/** Subjects that are not given as options are arguments, in their order. */
function readSubjects(subjects: readonly Subject[], command: Command): readonly TypedSubject[] {
  const options = command.opts<Readonly<Record<string, string | undefined>>>()
  const alone = [...command.args]
  const areAllAlone = alone.length === subjects.length
  return subjects.map(({ name, argument = name, choices, find }) => {
    const option = options[name]
    const typed = areAllAlone || option === undefined ? alone.shift() : undefined
    const optionName = typed === undefined ? `--${name}` : `<${argument}>`
    return { find, text: subjectOf(name, typed, option, choices), optionName }
  })
}

/** The filter for one organization. Credentials of one organization must give its id. */
const WITHIN: Subject = {
  ...ORGANIZATION,
  meaning: 'only in this organization, by id or name; with credentials of one organization by id',
}

/** The filters that were given. */
function readFilters(filters: readonly Subject[], command: Command): readonly TypedSubject[] {
  const options = command.opts<Readonly<Record<string, string | undefined>>>()
  return filters.flatMap(({ name, find }) => {
    const text = options[name]
    return text === undefined ? [] : [{ find, text, optionName: `--${name}` }]
  })
}

/** A verb that prints one page of a list. */
export interface ListVerb<Row, Options extends object> extends Omit<
  TaskVerb<never, Options>,
  'parts' | 'say' | 'adds' | 'exitCode'
> {
  /** The member of the answer that has the rows. */
  readonly rows: string
  /** The heading of a time names the zone: `CREATED (UTC)`. */
  readonly headings: readonly string[]
  /** The lines of one row. The last headings are left out where no line has their cells. */
  readonly cells: (row: Row, names: Names) => readonly (readonly string[])[]
  /** The line for an empty list. */
  readonly empty: string
}

/** A search examines a bounded number of rows for a page. */
const NONE_SO_FAR = 'None among the rows that were examined so far.'

/** A verb that prints a table. */
export function listVerb<Row, Options extends object = object>(list: ListVerb<Row, Options>): AddVerb {
  return taskVerb<Readonly<Record<string, unknown>>, Options>({
    ...list,
    filters: list.filters ?? filtersOf(requireTask(list.task), list.within),
    members: { before: { placeholder: 'id' }, limit: { placeholder: 'rows' }, ...list.members },
    say(answer, { paint }) {
      const rows = answer[list.rows] as readonly Row[]
      const names = (answer['names'] ?? {}) as Names
      const cells = rows.flatMap((row) => list.cells(row, names))
      const next = answer['next'] as string | null
      const none = next === null ? list.empty : NONE_SO_FAR
      const shown = list.headings.slice(0, Math.max(...cells.map(({ length }) => length)))
      const lines = rows.length === 0 ? [none] : columns(shown, cells, paint)
      return [...lines, ...nextPage(next)]
    },
  })
}
