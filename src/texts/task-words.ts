import tasks from './tasks.json' with { type: 'json' }
import { cut } from './texts.ts'

/** Verbs of the tasks of a user that are there for a member of an organization too, in the same words. */
export const MEMBER_VERBS = ['send-link', 'unlock', 'end-sessions', 'reset-second-factor'] as const

/** What tasks are called in tasks.json; a form with words of its own has a name there too: `api.update.scopes`. */
export type Worded = NamesIn<keyof typeof tasks> | `member.${(typeof MEMBER_VERBS)[number]}`
type NamesIn<Id> = Id extends `${infer Name}.label` ? Name : never

/** What a task says to a person, in English, as the console and the commands are. */
export interface TaskWords {
  /** On the button, in the imperative. */
  readonly label: string
  /** What was done, a sentence whose slots are members of the answer: `{domains.pattern}` is a member of each of a list. */
  readonly done: string
  /** What ends, on the page that asks before. Absent: nothing is asked, unless there are fields. */
  readonly warning?: string
  /** What to say beside the way back, because it restores not everything. */
  readonly undoNote?: string
  /** What is said of an object that is in the state already: `Already disabled`. */
  readonly already?: string
  /** The word before the name of what the screen is about, in the heading of the form: `to`, before `Acme`. */
  readonly about?: string
  /** What to do with the secret that the task creates. */
  readonly use?: string
}

/** A sentence with a text in each slot. */
export function filled(text: string, valueOf: (slot: string) => string): string {
  const { strings, slots } = cut(text)
  return strings.map((part, index) => `${part}${slots[index] === undefined ? '' : valueOf(slots[index])}`).join('')
}

const WORDS = Map.groupBy(Object.entries(tasks), ([id]) => id.slice(0, id.lastIndexOf('.')))

/** The words of a task or a form. Empty: it only reads, and is in no form. */
export function taskWords(name: string): Partial<TaskWords> {
  return Object.fromEntries((WORDS.get(name) ?? []).map(([id, text]) => [id.slice(id.lastIndexOf('.') + 1), text]))
}
