import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { wireName } from '../../admin/provider/settings.ts'
import { SECTIONS, type Family } from '../../metrics/families.ts'
import { AUDIT_EVENT_TEXTS } from '../../protocol/audit/event-names.ts'
import type { EventText } from '../../protocol/audit/events/event-text.ts'
import { ANSWER_MEMBERS } from '../../protocol/token/introspection-answer.ts'
import { listed, REFUSALS, type Refusal } from '../../protocol/refusals.ts'
import { PROVIDER_TEMPLATES } from '../../protocol/sign-in/provider.ts'
import { PROBLEM_TYPES } from '../../base/validation.ts'
import { PROVIDER_OPTIONS } from '../commands/provider.ts'
import { addMemberOptions } from '../lib/member-options.ts'
import { requireTask } from '../lib/perform-task.ts'

/** A part of a page that `npm run docs` writes, between two comments with its name. The rest of the page is prose. */
export interface GeneratedPart {
  /** `docs/errors.md`. */
  readonly page: string
  readonly name: string
  readonly text: string
}

/** The parts that are made from tables of src/. */
export function generatedParts(): readonly GeneratedPart[] {
  return [
    { page: 'docs/errors.md', name: 'remedies', text: remedies() },
    { page: 'docs/errors.md', name: 'problem types', text: meanings(PROBLEM_TYPES) },
    { page: 'docs/reasons.md', name: 'reasons', text: reasons() },
    { page: 'docs/tokens.md', name: 'members of an answer', text: answerMembers() },
    { page: 'docs/audit.md', name: 'events', text: events() },
    { page: 'docs/providers.md', name: 'settings', text: providerSettings() },
    ...Object.entries(SECTIONS).map(([name, families]) => ({
      page: 'docs/monitoring.md',
      name: `metrics of ${name}`,
      text: metrics(families),
    })),
  ]
}

/**
 * Returns the page with its generated parts.
 *
 * @throws Error if the page lacks the comments of a part
 */
export function withParts(page: string, parts: readonly GeneratedPart[]): string {
  return parts
    .filter((part) => part.page === page)
    .reduce(
      (text, { name, text: part }) => {
        const [start, end] = [`<!-- The ${name}, made by \`npm run docs\`. -->\n`, `<!-- The end of the ${name}. -->\n`]
        const [before, rest] = text.split(start)
        const after = rest?.split(end)[1]
        if (before === undefined || after === undefined) throw new Error(`${page} has no place for the ${name}.`)
        return `${before}${start}\n${part}\n${end}${after}`
      },
      readFileSync(page, 'utf8'),
    )
}

/** The settings of a provider that a template fills in, with the options of `provider create`. */
function providerSettings(): string {
  const command = new Command()
  const rows = { rows: PROVIDER_OPTIONS, others: new Set<string>() }
  const { longNameOf } = addMemberOptions(command, requireTask('provider.create'), rows)
  const { oidc, ...others } = PROVIDER_TEMPLATES
  const settings = Object.keys(oidc).flatMap((key) => {
    const name = key as keyof typeof oidc
    const option = command.options.find(({ long }) => long === longNameOf(wireName(name)))
    if (option === undefined) return []
    const usual = valueText(oidc[name])
    const named = Object.entries(others).map(([template, values]) => [template, valueText(values[name])] as const)
    const differing = named.filter(([, value]) => value !== usual).map(([template, value]) => `${template}: ${value}`)
    const usually = [usual, ...differing].filter((text) => text !== '–').join('; ')
    return [`\`${option.long}\`${usually === '' ? '' : ` (${usually})`}: ${option.description}`]
  })
  return list(settings)
}

function valueText(value: string | number | readonly string[] | boolean | undefined): string {
  const isNothing = value === undefined || value === false || (typeof value === 'object' && value.length === 0)
  return isNothing ? '–' : `\`${String(value)}\``
}

function remedies(): string {
  return list(
    Object.entries<Refusal>(REFUSALS).map(([code, { status, otherStatus, remedy }]) => {
      const statuses = [status, otherStatus].filter((part) => part !== undefined).join(', ')
      return `\`${code}\` (${statuses}): ${remedy}`
    }),
  )
}

function reasons(): string {
  return Object.entries<Refusal>(REFUSALS)
    .map(([code, row]) => `## ${code}\n\n${meanings(row.reasons)}`)
    .join('\n')
}

function answerMembers(): string {
  const members = Object.entries(ANSWER_MEMBERS)
  const ofRefreshToken = members.filter(([, { ofRefreshToken: of }]) => of !== false).map(([member]) => `\`${member}\``)
  const texts = Object.fromEntries(members.map(([member, { text }]) => [member, text]))
  return `${meanings(texts)}\nA refresh token has ${listed(ofRefreshToken)}.\n`
}

/** A list; names that say it all are its first entry. */
function meanings(texts: Readonly<Record<string, string>>): string {
  const rows = Object.entries(texts).map(([name, meaning]) => ({ name: `\`${name}\``, meaning }))
  const plain = rows.filter(({ meaning }) => meaning === '').map(({ name }) => name)
  const explained = rows.filter(({ meaning }) => meaning !== '').map(({ name, meaning }) => `${name}: ${meaning}`)
  return list([...(plain.length === 0 ? [] : [plain.join(', ')]), ...explained])
}

function events(): string {
  const all = Object.entries<EventText>(AUDIT_EVENT_TEXTS)
  const explained = all.flatMap(([name, { when, details }]) =>
    when === undefined ? [] : [`\`${name}\`: ${when}${details === undefined ? '' : ` (${details})`}`],
  )
  const plain = Map.groupBy(
    all.filter(([, { when }]) => when === undefined),
    ([, { details }]) => details,
  )
  const grouped = [...plain].map(
    ([details, rows]) =>
      `${rows.map(([name]) => `\`${name}\``).join(', ')}${details === undefined ? '' : ` (${details})`}`,
  )
  return `${list(explained)}\nThe names of these say when:\n\n${list(grouped)}`
}

/** Those of the process and of Node.js have the names of prom-client, which say what they are. */
function metrics(families: Readonly<Record<string, Family>>): string {
  return list(
    Object.entries(families).map(([name, { type, labels, help, more }]) => {
      const kind = [type, ...labels.map((label) => `\`${label}\``)].join(', ')
      const says = /^(?:process|nodejs)_/.test(name) ? (more ?? '') : more === undefined ? help : `${help} ${more}`
      return says === '' ? `\`${name}\` (${kind})` : `\`${name}\` (${kind}): ${says}`
    }),
  )
}

function list(items: readonly string[]): string {
  return [...items.map((item) => `- ${item}`), ''].join('\n')
}
