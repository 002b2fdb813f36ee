import { requireTask } from '../../src/admin/tasks.ts'
import { cut } from '../../src/texts/texts.ts'

/** What a page or a command says that a task did, as the source of a regular expression. `slots`: what some have; the others have any text. */
export function said(task: string, slots: Readonly<Record<string, string>> = {}): string {
  const { strings, slots: names } = cut(requireTask(task).words.done)
  return strings
    .map((text, index) => {
      const name = names[index]
      return name === undefined
        ? RegExp.escape(text)
        : `${RegExp.escape(text)}(?:<bdi>)?${slots[name] ?? '[^<\\n]*?'}(?:</bdi>)?`
    })
    .join('')
}

/** What the console says of several rows: `3 of 5` were changed, and how many were so before. */
export function saidOf(task: string, done: string, already?: number): string {
  const { label, already: words = '' } = requireTask(task).words
  return `${label}: done for ${done}\\.${already === undefined ? '' : ` ${words}: ${already}\\.`}`
}
