import type { DomainDocument } from '../../admin/domain.ts'
import { code, html, type Fragment } from '../../web/markup.ts'
import { listAddress } from '../links.ts'
import { chip, name, nothing, table, time } from '../parts.ts'
import { screen, type Members, type ScreenForm, type Undo } from '../screen.ts'

interface Answers {
  readonly list: { readonly domains: readonly DomainDocument[]; readonly next: string | null }
}

const PATH = '/console/domains'
/** The task that sets a verdict. */
const SETS = { trusted: 'domain.trust', blocked: 'domain.block' } as const

/** What is done with chosen rules. A rule keeps its note. */
const ROW_FORMS: readonly ScreenForm[] = [
  {
    task: SETS.trusted,
    label: 'Trust',
    done: 'Trusted',
    undo: SETS.blocked,
    already: { text: 'Already trusted', holds: ({ verdict }) => verdict === 'trusted' },
  },
  {
    task: SETS.blocked,
    label: 'Block',
    done: 'Blocked',
    undo: SETS.trusted,
    already: { text: 'Already blocked', holds: ({ verdict }) => verdict === 'blocked' },
  },
  {
    task: 'domain.forget',
    label: 'Remove',
    done: 'Removed',
    isRecent: true,
    isDanger: true,
    warning: 'The domain is then neither trusted nor blocked: clients of a blocked domain can register again.',
  },
]

/** The rules for the domains of clients. */
export const DOMAINS = screen<Answers>({
  path: PATH,
  section: 'domains',
  reads: { list: { task: 'domain.list', input: () => ({}) } },
  filters: [],
  forms: ROW_FORMS.map((form) => ({
    ...form,
    subject: 'pattern',
    isBulk: true as const,
    rows: rowsOf,
    ...(form.undo === undefined ? {} : { keeps: ({ note }: Members) => (note === null ? {} : { note }) }),
  })),
  names: ({ list }) => Object.fromEntries(list.domains.map(({ pattern }) => [pattern, pattern])),
  view: ({ list }, frame) => ({
    title: 'Domains',
    main: html`<div class="heading">
        <h1>Domains</h1>
        ${
          frame.mayWrite
            ? html`<span class="actions"
                ><a class="button" href="${PATH}/new?ask=${SETS.trusted}">Trust a domain</a>
                <a class="button" href="${PATH}/new?ask=${SETS.blocked}">Block a domain</a></span
              >`
            : undefined
        }
      </div>
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
            cell: ({ verdict }) => (verdict === 'trusted' ? chip('Trusted', 'good') : chip('Blocked', 'bad')),
          },
          { heading: 'Clients', cell: ({ pattern }) => clientsOf(pattern) },
          { heading: 'Note', cell: ({ note }) => name(note, '–') },
          { heading: 'Set', cell: ({ changed_at: at }) => time(at, frame) },
        ],
      })}`,
  }),
})

/** A new rule, with a screen of its own because its fields name the domain, and the rows of the list are domains already. */
export const NEW_DOMAIN = screen<Answers>({
  path: `${PATH}/new`,
  section: 'domains',
  reads: { list: { task: 'domain.list', input: () => ({ limit: 1000 }) } },
  filters: [],
  forms: [
    {
      task: SETS.trusted,
      label: 'Trust a domain',
      done: 'Trusted',
      fields: ['pattern', 'known', 'note'],
      leadsTo: () => PATH,
      undoes: undoOf,
    },
    {
      task: SETS.blocked,
      label: 'Block a domain',
      done: 'Blocked',
      warning:
        'Clients of the domain can neither register nor start an authorization, also those that are in use. Their tokens stay valid. A pattern such as *.com is about all of its hosts. The next page offers to undo it.',
      fields: ['pattern', 'note'],
      leadsTo: () => PATH,
      undoes: undoOf,
    },
  ],
  names: () => ({}),
  view: (_, frame) => ({
    title: 'New rule for a domain',
    main: html`<div class="heading">
        <h1>New rule for a domain</h1>
        ${
          frame.mayWrite
            ? html`<span class="actions"
                ><a class="button" href="?ask=${SETS.trusted}">Trust a domain</a>
                <a class="button" href="?ask=${SETS.blocked}">Block a domain</a></span
              >`
            : undefined
        }
      </div>
      <p><a href="${PATH}">The rules that there are</a></p>`,
  }),
})

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

function rowsOf(answers: Members): Readonly<Record<string, Members>> {
  const { list } = answers as unknown as Answers
  return Object.fromEntries(list.domains.map((one) => [one.pattern, one]))
}

/** Where the clients of the rule are listed. No filter finds all hosts below one. */
function clientsOf(pattern: string): Fragment {
  if (pattern.startsWith('*.')) return html`<span class="muted none">–</span>`
  const host = pattern.startsWith('https://') ? new URL(pattern).hostname : pattern
  return html`<a href="${listAddress('clients', 'host', host)}">Clients</a>`
}
