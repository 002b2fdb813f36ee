import type * as z from 'zod'
import { isObject } from '../../base/json.ts'
import { requireTask, type Members } from '../lib/perform-task.ts'
import { SECRET, type Kind } from './kinds.ts'

/** A call of a task, without the key of the record. */
export interface Call {
  readonly task: string
  readonly input: Members
}

/** A member of a record that differs. */
export interface Difference {
  readonly member: string
  readonly before: unknown
  readonly after: unknown
}

/** How a record in the store differs from one in a file. */
interface Comparison {
  readonly differences: readonly Difference[]
  readonly calls: readonly Call[]
  /** The members that no task changes. */
  readonly fixed: readonly string[]
}

/**
 * Whether two values mean the same. What is absent, null, false, or empty is the same in each answer, and the order of a list has no meaning in
 * any of them.
 */
export function means(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other)
}

function canonical(value: unknown): string {
  if (isNothing(value)) return 'null'
  if (Array.isArray(value)) return `[${value.map(canonical).toSorted().join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, part]) => !isNothing(part))
  return `{${members
    .map(([name, part]) => `${JSON.stringify(name)}:${canonical(part)}`)
    .toSorted()
    .join()}}`
}

function isNothing(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    value === false ||
    (Array.isArray(value) && value.length === 0)
  )
}

/** Compares a record in the store with one in a file, of which `after` has all members. */
export function compare(kind: Kind, before: Members, after: Members, names: readonly string[]): Comparison {
  const differences = names
    .filter((member) => !means(before[member], after[member]))
    .map((member) => ({ member, before: before[member] ?? null, after: after[member] ?? null }))
  const changed = new Set(differences.map(({ member }) => member))
  const changeable = new Set<string>()
  const calls: (Call & { readonly isFirst: boolean })[] = []
  if (kind.name === 'domain') {
    // To set a verdict is to replace the rule.
    for (const member of changed) changeable.add(member)
    if (changed.size > 0) calls.push({ ...creationOf(kind, after), isFirst: false })
  }
  for (const update of kind.updates) {
    const inputs = inputsOf(kind, update.task)
    const memberOf = (name: string): string => update.named?.[name] ?? update.within ?? name
    for (const name of inputs) changeable.add(memberOf(name))
    for (const name of update.implied?.(before, after) ?? []) changeable.add(name)
    const { together = [] } = update
    const own = inputs.filter((name) => changed.has(memberOf(name)))
    const sent = own.some((name) => together.includes(name)) ? [...new Set([...own, ...together])] : own
    if (sent.length === 0) continue
    const values = sent.map((name): [string, unknown] => {
      const value = update.within === undefined ? after[memberOf(name)] : (after[update.within] as Members)[name]
      return [name, value ?? emptyOf(update.task, name)]
    })
    const input = Object.fromEntries(values.filter(([, value]) => value !== undefined))
    calls.push({
      task: update.task,
      input: update.prepare?.(input, before) ?? input,
      isFirst: update.isFirst?.(before, after) === true,
    })
  }
  const ordered = [...calls.filter(({ isFirst }) => isFirst), ...calls.filter(({ isFirst }) => !isFirst)]
  return {
    differences,
    calls: ordered.map(({ task, input }) => ({ task, input })),
    fixed: [...changed].filter((member) => !changeable.has(member)),
  }
}

/** The task that creates a record. Of a domain the verdict is the task. */
export function creationOf(kind: Kind, members: Members): Call {
  const task = kind.createTask(members)
  const inputs = Object.keys(requireTask(task).input.shape)
  const own = Object.entries(members).filter(([name]) => inputs.includes(name))
  return { task, input: Object.fromEntries(own) }
}

function inputsOf({ key, secret }: Kind, task: string): readonly string[] {
  const names = Object.keys(requireTask(task).input.shape).filter((name) => name !== key)
  return secret?.task === task ? names.filter((name) => name !== SECRET) : names
}

/** The value with which a task removes what a member had: the emptiest one that its schema takes; undefined: it is left out. */
function emptyOf(task: string, member: string): unknown {
  const schema = requireTask(task).input.shape[member] as z.ZodType
  return [null, false, '', []].find((value) => schema.safeParse(value).success)
}
