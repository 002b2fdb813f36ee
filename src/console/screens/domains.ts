import type { ClientDocument } from '../../admin/client/document.ts'
import type { DomainDocument } from '../../admin/domain.ts'
import { parseDomainPattern } from '../../protocol/client/domain-rule.ts'
import { listedNameOf } from '../../protocol/client/identity.ts'
import { taskWords } from '../../texts/task-words.ts'
import { code, html, type Markup } from '../../web/markup.ts'
import { choosingForm } from '../engine/ask.ts'
import { linkTo, listAddress } from '../links.ts'
import { listHeading, nothing, table } from '../list.ts'
import { chip, name, time } from '../parts.ts'
import { screen } from '../screen.ts'
import type { ChangeForm, Form, Frame, Members, Texts, Undo } from '../engine/form.ts'

interface Answers {
  readonly list: { readonly domains: readonly DomainDocument[]; readonly next: string | null }
}

const PATH = '/console/domains'
/** The task that sets a verdict. */
const SETS = { trusted: 'domain.trust', blocked: 'domain.block' } as const

const ROWS = { member: 'pattern', isBulk: true, read: rowsOf } as const
/** A rule keeps its note. */
const KEPT = { ...ROWS, keeps: noteOf } as const

/** What is done with chosen rules. */
const ROW_FORMS: readonly ChangeForm[] = [
  { kind: 'change', task: SETS.trusted, undo: SETS.blocked, rows: KEPT },
  { kind: 'change', task: SETS.blocked, undo: SETS.trusted, rows: KEPT },
  { kind: 'change', task: 'domain.forget', rows: ROWS },
]

/** The rules for the domains of clients. */
export const DOMAINS = screen<Answers>({
  path: PATH,
  section: 'domains',
  reads: { list: { task: 'domain.list', input: () => ({}) } },
  filters: [],
  forms: ROW_FORMS,
  names: ({ list }) => Object.fromEntries(list.domains.map(({ pattern }) => [pattern, pattern])),
  view: ({ list }, frame) => ({
    title: 'Domains',
    main: html`${listHeading(frame, 'Domains', { shown: list.domains.length, next: list.next }, newRules(frame))}
    ${table(frame, {
      caption: 'Domains of clients, by name',
      rows: list.domains,
      next: list.next,
      idOf: ({ pattern }) => pattern,
      labelOf: ({ pattern }) => pattern,
      empty: nothing(
        frame,
        'Clients of a trusted domain are shown as known; those of a blocked one can neither register nor start an authorization.',
        'grantor domain trust --known',
      ),
      columns: [
        { heading: 'Domain', cell: ({ pattern }) => code(pattern) },
        {
          heading: 'Verdict',
          role: 'badge',
          cell: ({ verdict }) => (verdict === 'trusted' ? chip('Trusted', 'good') : chip('Blocked', 'bad')),
        },
        { heading: 'Clients', role: 'meta', cell: ({ pattern }) => clientsOf(pattern) },
        { heading: 'Note', cell: ({ note }) => name(note, '–') },
        { heading: 'Set', role: 'meta', cell: ({ changed_at: at }) => time(at, frame) },
      ],
    })}`,
  }),
})

/** The forms of a new rule, which the screen of the list does not have. */
function newRules({ mayWrite }: Pick<Frame, 'mayWrite'>): Markup | undefined {
  if (!mayWrite) return undefined
  const link = (task: 'domain.trust' | 'domain.block') =>
    html`<a class="button" href="${PATH}/new?ask=${task}">${taskWords(`${task}.new`).label}</a>`
  return html`<span class="actions">${link(SETS.trusted)} ${link(SETS.blocked)}</span>`
}

/** What the address of a rule that is to block a domain has: chosen first, because the form shows whom it is about. */
const CHOSEN = ['pattern']
const CLIENTS_SHOWN = 50

interface NewAnswers extends Answers {
  readonly clients: { readonly clients: readonly ClientDocument[]; readonly next: string | null }
}

const BLOCK: Form = {
  kind: 'create',
  task: SETS.blocked,
  wording: 'domain.block.new',
  undo: undoOf,
  fields: ['pattern', 'note'],
  step: { fields: CHOSEN, choose: choosing, chosen: affected },
  leadsTo: () => PATH,
}

/** A new rule, with a screen of its own because its fields name the domain, and the rows of the list are domains already. */
export const NEW_DOMAIN = screen<NewAnswers>({
  path: `${PATH}/new`,
  section: 'domains',
  reads: {
    list: { task: 'domain.list', input: () => ({ limit: 1000 }) },
    clients: { task: 'client.list', input: ({ query }) => clientsBelow(query['pattern']) },
  },
  filters: [],
  keeps: CHOSEN,
  forms: [
    {
      kind: 'create',
      task: SETS.trusted,
      wording: 'domain.trust.new',
      undo: undoOf,
      fields: ['pattern', 'known', 'note'],
      leadsTo: () => PATH,
    },
    BLOCK,
  ],
  names: () => ({}),
  view: (_, frame) => ({
    title: 'New rule for a domain',
    main: html`<div class="heading">
        <h1>New rule for a domain</h1>
        ${newRules(frame)}
      </div>
      <p><a href="${PATH}">The rules that there are</a></p>`,
  }),
})

/** The page of the form names the clients, so it needs a pattern. */
function choosing(_: Members, { pattern = '' }: Texts): Markup | undefined {
  const read = parseDomainPattern(pattern, 'blocked')
  if (read.kind === 'pattern') return undefined
  const errors: Texts = pattern === '' ? {} : { pattern: `This ${read.reason}.` }
  return choosingForm(BLOCK, `${PATH}/new`, { values: { pattern }, errors, kept: [] })
}

/** The host in a pattern, as the list of clients takes it. */
function hostIn(pattern: string): string {
  return pattern.startsWith('https://') ? new URL(pattern).hostname : pattern
}

function clientsBelow(text = ''): Members {
  const read = parseDomainPattern(text, 'blocked')
  return read.kind === 'pattern' ? { host: hostIn(read.pattern), limit: CLIENTS_SHOWN } : { limit: 1 }
}

/** What ends with the rule. The search looks at a part of the clients, so that it may find none and go on. */
function affected(answers: Members, { pattern = '' }: Texts): Markup {
  const { clients, next } = (answers as unknown as NewAnswers).clients
  const isDocument = pattern.startsWith('https://')
  const meant = isDocument ? clients.filter(({ document_url: url }) => url === pattern) : clients
  const what = pattern.startsWith('*.') ? html`all hosts below ${code(pattern.slice(2))}` : code(pattern)
  return html`<div class="step">
    <p>This is about ${what}. <a href="?ask=${SETS.blocked}">Choose another one</a></p>
    <p>Clients that it is about now: <strong>${next === null ? '' : 'at least '}${meant.length}</strong></p>
    ${
      meant.length === 0
        ? undefined
        : html`<ul class="plain">
            ${meant.map((one) => html`<li><a href="${linkTo('clients', one.client_id)}">${name(listedNameOf(one), '(no name)')}</a></li>`)}
          </ul>`
    }
  </div>`
}

/** Takes back what is new by removing it, and a verdict by the one before. What had the verdict already is left alone. */
function undoOf(before: Members, answer: Members): Undo | undefined {
  const earlier = rowsOf(before)
  const rules = answer['domains'] as readonly DomainDocument[]
  const [first] = rules
  const subjects = rules.map(({ pattern }) => pattern)
  if (rules.every(({ pattern }) => earlier[pattern] === undefined)) return { task: 'domain.forget', subjects }
  const was = first === undefined ? undefined : (earlier[first.pattern] as DomainDocument | undefined)
  if (rules.length > 1 || was === undefined || was.verdict === first?.verdict) return undefined
  return { task: SETS[was.verdict], subjects }
}

function noteOf({ note }: Members): Members {
  return note === null ? {} : { note }
}

function rowsOf(answers: Members): Readonly<Record<string, Members>> {
  const { list } = answers as unknown as Answers
  return Object.fromEntries(list.domains.map((one) => [one.pattern, one]))
}

/** Where the clients of the rule are listed. */
function clientsOf(pattern: string): Markup {
  return html`<a href="${listAddress('clients', 'host', hostIn(pattern))}">Show</a>`
}
