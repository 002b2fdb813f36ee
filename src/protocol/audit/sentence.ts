/** What a sentence about an event is made of. `object`: what a page leads to, by its id. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'object'; readonly noun: Noun; readonly id: string; readonly name: string }
  | { readonly kind: 'number'; readonly value: number }

export type Noun = 'client' | 'user' | 'organization' | 'actor'
export type Sentence = readonly Part[]

/** `good`: a person or client got something, or got it back. `caution`: something ended or was refused. `bad`: perhaps an attack, or a loss. */
export type Tone = 'plain' | 'good' | 'caution' | 'bad'
export type Icon =
  | 'api'
  | 'client'
  | 'key'
  | 'lock'
  | 'mail'
  | 'organization'
  | 'provider'
  | 'server'
  | 'token'
  | 'user'

/** An event, as `AuditEvent` has it, of any time: a row that an earlier version wrote may lack what it has now. */
export interface SaidEvent {
  readonly clientId?: string | undefined
  readonly userId?: string | undefined
  readonly organizationId?: string | undefined
  readonly actor?: string | undefined
  readonly details?: Readonly<Record<string, string | number | boolean>> | undefined
}

/** What the rows of the events make their sentences of. An object that the event does not name is a word. */
export interface EventWords {
  /** Who caused the event: the administrator, or else the user, or else the client. */
  readonly by: Slot
  /** Whether no administrator did it, or the user is the administrator. */
  readonly isOwn: boolean
  readonly client: Slot
  readonly user: Slot
  readonly organization: Slot
  /** How often it happened. */
  readonly count: number
  /** `, 11 times`; nothing if it happened once. */
  readonly times: Sentence
  /** The sum of the numbers in the details, but that of one name. */
  readonly sumWithout: (name: string) => number
  /** A member of the details; '' if there is none. */
  readonly detail: (name: string) => string
  /** The same after a text; nothing if there is none. */
  readonly optional: (before: string, name: string) => string
}

export type Slot = string | number | Part | Sentence

const ACTORS: Readonly<Record<string, string>> = {
  'command-line': 'The command line',
  library: 'The program around the server',
  server: 'The server',
}
const OWN: Readonly<Record<Noun, string>> = {
  client: 'itself',
  user: 'their own account',
  organization: 'it',
  actor: 'itself',
}

/** A template whose objects, numbers and sentences stay parts. An object that it names twice is `itself` the second time. */
export function say(texts: TemplateStringsArray, ...slots: readonly Slot[]): Sentence {
  const parts: Part[] = []
  const add = (part: Part): void => {
    const last = parts.at(-1)
    const isKnown = part.kind === 'object' && parts.some((one) => one.kind === 'object' && one.id === part.id)
    const shown: Part = isKnown ? { kind: 'text', text: OWN[part.noun] } : part
    if (shown.kind === 'text' && last?.kind === 'text')
      parts[parts.length - 1] = { kind: 'text', text: last.text + shown.text }
    else if (shown.kind !== 'text' || shown.text !== '') parts.push(shown)
  }
  for (const [index, text] of texts.entries()) {
    add({ kind: 'text', text })
    for (const part of partsOf(slots[index] ?? '')) add(part)
  }
  return parts
}

/** The sentence with a capital letter, if it begins with a word. */
export function capitalized([first, ...rest]: Sentence): Sentence {
  if (first?.kind !== 'text') return first === undefined ? [] : [first, ...rest]
  return [{ ...first, text: first.text.slice(0, 1).toUpperCase() + first.text.slice(1) }, ...rest]
}

/** The sentence without its links. */
export function plainText(sentence: Sentence): string {
  return sentence
    .map((part) => (part.kind === 'text' ? part.text : part.kind === 'number' ? String(part.value) : part.name))
    .join('')
}

/** A noun, for an object that the place of the sentence names already. */
const NOUNS: Readonly<Record<Noun, string>> = {
  client: 'the client',
  user: 'the user',
  organization: 'the organization',
  actor: 'the user',
}

/**
 * The sentence on the page of one of its objects, whose name is left out: at the beginning, and after "of" and "for". Elsewhere it is a
 * noun.
 */
export function withoutObject(sentence: Sentence, id: string): Sentence {
  const parts: Part[] = []
  for (const [index, part] of sentence.entries()) {
    const last = parts.at(-1)
    if (part.kind === 'object' && part.id === id) {
      const before = last?.kind === 'text' ? / (?:of|for)$/.exec(last.text.trimEnd()) : null
      if (index === 0) continue
      if (last?.kind === 'text' && before !== null) parts[parts.length - 1] = cut(last, before.index)
      else parts.push({ kind: 'text', text: NOUNS[part.noun] })
    } else
      parts.push(
        parts.length === 0 && part.kind === 'text' ? { ...part, text: part.text.replace(/^[ ,:]+/, '') } : part,
      )
  }
  return capitalized(parts)
}

function cut(part: Extract<Part, { readonly kind: 'text' }>, end: number): Part {
  return { ...part, text: part.text.slice(0, end) }
}

/** `names`: of the ids, as far as they are known. */
export function eventWords(event: SaidEvent, names: Readonly<Record<string, string>>): EventWords {
  const { clientId, userId, organizationId, actor, details = {} } = event
  const object = (noun: Noun, id: string | undefined, otherwise: string): Slot =>
    id === undefined
      ? otherwise
      : { kind: 'object', noun, id, name: (Object.hasOwn(names, id) ? names[id] : undefined) ?? id }
  const [client, user] = [object('client', clientId, 'a client'), object('user', userId, 'a user')]
  const doer = userId === undefined ? (clientId === undefined ? 'The server' : client) : user
  const count = typeof details['again'] === 'number' ? details['again'] : 1
  const detail = (name: string): string => String(details[name] ?? '')
  return {
    by:
      actor === undefined
        ? doer
        : ((Object.hasOwn(ACTORS, actor) ? ACTORS[actor] : undefined) ??
          object(actor === userId ? 'user' : 'actor', actor, '')),
    isOwn: actor === undefined || actor === userId,
    client,
    user,
    organization: object('organization', organizationId, 'an organization'),
    count,
    times: count === 1 ? [] : say`, ${count} times`,
    sumWithout: (name) =>
      Object.entries(details).reduce(
        (sum, [of, value]) => (of !== name && typeof value === 'number' ? sum + value : sum),
        0,
      ),
    detail,
    optional: (before, name) => (details[name] === undefined ? '' : before + detail(name)),
  }
}

function partsOf(slot: Slot): Sentence {
  if (typeof slot === 'string') return [{ kind: 'text', text: slot }]
  if (typeof slot === 'number') return [{ kind: 'number', value: slot }]
  return 'kind' in slot ? [slot] : slot
}
