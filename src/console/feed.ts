import type { AuditEntryDocument } from '../admin/audit/tasks.ts'
import { AUDIT_EVENT_TEXTS, sentenceOf, type AuditEventName } from '../protocol/audit/event-names.ts'
import { withoutObject, type Icon, type Noun, type Part, type Sentence, type Tone } from '../protocol/audit/sentence.ts'
import { parseAdminCredentialId } from '../protocol/ids.ts'
import { code, html, type Fragment, type Markup } from '../web/markup.ts'
import type { Frame, Texts } from './engine/form.ts'
import {
  apisIcon,
  clientsIcon,
  keysIcon,
  lockIcon,
  mailIcon,
  organizationsIcon,
  providersIcon,
  serverIcon,
  grantsIcon,
  usersIcon,
} from './icons.ts'
import { linkFor, listAddress } from './links.ts'
import { nothing, pages } from './list.ts'
import { called, dayOf, dotted, name, named, nameOf, networkOf } from './parts.ts'

/** Events as a task lists them. */
export interface ListedEvents {
  readonly events: readonly AuditEntryDocument[]
  readonly names: Texts
  readonly next: string | null
}

/** Where events are listed besides the screen of the audit. */
export interface FeedPlace {
  /** The object of the page, whose name the sentences leave out. */
  readonly own?: string
  /** What an empty list says. */
  readonly none: string
}

/** Events as sentences, newest first, grouped by day. `place`: undefined on the screen of the audit, which has pages and filters. */
export function feed(frame: Frame, list: ListedEvents, place?: FeedPlace): Markup {
  const { events, names } = list
  const next = place === undefined ? list.next : null
  const empty =
    next !== null
      ? html`<p>None so far.</p>`
      : place === undefined
        ? nothing(frame, 'Events appear here as they happen.', undefined)
        : html`<p>${place.none}</p>`
  const pager = place === undefined ? pages(frame, events.length, next) : undefined
  return html`${
    events.length === 0
      ? html`<div class="empty">${empty}</div>`
      : html`<ol class="feed" role="list">
          ${events.map((entry, index) => [dayBefore(frame, events, index), item(frame, entry, names, place)])}
        </ol>`
  }
  ${pager === undefined ? undefined : html`<div class="bar">${pager}</div>`}`
}

/** The heading of a day, before its newest event. The first one says whose hours the times are. */
function dayBefore(frame: Frame, events: readonly AuditEntryDocument[], index: number): Fragment {
  const day = (at: number): string | undefined => events[at]?.recorded_at.slice(0, 10)
  const date = day(index)
  if (date === undefined || date === day(index - 1)) return undefined
  const zone = index === 0 ? ' · times are UTC' : ''
  return html`<li class="date" data-day="${date}">${dayOf(date, frame)}${zone}</li>`
}

const ICONS: Readonly<Record<Icon, Markup>> = {
  api: apisIcon,
  client: clientsIcon,
  key: keysIcon,
  lock: lockIcon,
  mail: mailIcon,
  organization: organizationsIcon,
  provider: providersIcon,
  server: serverIcon,
  token: grantsIcon,
  user: usersIcon,
}

/** Without spaces, because a page has fifty. */
function item(frame: Frame, entry: AuditEntryDocument, names: Texts, place: FeedPlace | undefined): Markup {
  const { event, recorded_at: at } = entry
  const { icon, tone } = looksOf(event)
  const whole = sentenceOf(saidOf(entry), names)
  const sentence = place?.own === undefined ? whole : withoutObject(whole, place.own)
  const hour = spanOf(entry) ?? at.slice(11, place === undefined ? 19 : 16)
  const what = html`<p>${sentence.map((part) => shown(frame, part, names))}</p>`
  const time = html`<time datetime="${at.slice(0, 19)}Z">${hour}</time>`
  const others = notSaid(entry, whole, place?.own)
  const about = dotted([...originOf(entry), ...others.map((one) => one.text(names)), event])
  const more = html`${links(frame, entry, names, others)}
    <pre>${rawOf(entry)}</pre>`
  const details = html`<details>
    <summary>${about}</summary>
    ${more}
  </details>`
  return html`<li class="${tone}" data-row>${ICONS[icon]}${what}${time}${details}</li>`
}

/** Repetitions are recorded after their minute, and so perhaps after what ended them. undefined: the event happened when it was recorded. */
function spanOf({ details: { again, minute }, recorded_at: at }: AuditEntryDocument): string | undefined {
  if (again === undefined || typeof minute !== 'number') return undefined
  const [from, to] = [new Date(minute).toISOString(), at].map((time) => time.slice(11, 16))
  return from === to ? from : `${from}–${to}`
}

/** An event of another version has no row. */
function looksOf(event: string): { readonly icon: Icon; readonly tone: Tone } {
  return Object.hasOwn(AUDIT_EVENT_TEXTS, event)
    ? AUDIT_EVENT_TEXTS[event as AuditEventName]
    : { icon: 'server', tone: 'plain' }
}

function saidOf(entry: AuditEntryDocument) {
  return {
    event: entry.event,
    clientId: entry.client_id ?? undefined,
    userId: entry.user_id ?? undefined,
    organizationId: entry.organization_id ?? undefined,
    actor: entry.actor ?? undefined,
    details: entry.details,
  }
}

const LISTS: Readonly<Record<Exclude<Noun, 'actor'>, 'clients' | 'users' | 'organizations'>> = {
  client: 'clients',
  user: 'users',
  organization: 'organizations',
}

function shown(frame: Frame, part: Part, names: Texts): Fragment {
  if (part.kind === 'text') return part.text
  if (part.kind === 'number') return part.value
  if (part.noun !== 'actor') return named(frame, LISTS[part.noun], part.id, names)
  if (parseAdminCredentialId(part.id) === undefined) return named(frame, 'users', part.id, names)
  return frame.mayOpen('/console/credentials')
    ? html`<a href="/console/credentials">${called(part.id, names)}</a>`
    : called(part.id, names)
}

/** The browser and the networks of the request, as far as the event has them. */
function originOf({ details }: AuditEntryDocument): readonly Fragment[] {
  const { browser, system, network, networks, again } = details
  const agent = [browser, system].filter((part) => part !== undefined).join(' on ')
  const places =
    networks === undefined
      ? network === undefined
        ? ''
        : networkOf(String(network))
      : networksOf(String(networks), Number(again))
  return [agent, places].filter((text) => text !== '').map((text) => name(text, ''))
}

/** `203.0.113.0/24=9 other=4` in words. One network has all of the repetitions. */
function networksOf(text: string, again: number): string {
  return text
    .split(' ')
    .map((part) => {
      const [network = '', count = ''] = part.split('=')
      const place = network === 'other' ? 'other networks' : networkOf(network)
      return Number(count) === again ? place : `${place} (${count})`
    })
    .join(', ')
}

/** An object that the event names, and its sentence does not. */
interface Other {
  readonly text: (names: Texts) => Markup
  readonly link: (frame: Frame, names: Texts) => Markup
}

function notSaid(entry: AuditEntryDocument, sentence: Sentence, own: string | undefined): readonly Other[] {
  const { client_id: client, user_id: user, organization_id: organization } = entry
  const of = (kind: 'clients' | 'users' | 'organizations', id: string | null): readonly Other[] =>
    id === null || id === own || sentence.some((part) => part.kind === 'object' && part.id === id)
      ? []
      : [
          {
            text: (names) =>
              html`${kind === 'organizations' ? 'for ' : ''}${name(nameOf(names, id) ?? id, '(no name)')}`,
            link: (frame, names) => named(frame, kind, id, names),
          },
        ]
  return [...of('clients', client), ...of('users', user), ...of('organizations', organization)]
}

/** To what the event names, and to all that its actor did, for a person who has the audit. */
function links(frame: Frame, entry: AuditEntryDocument, names: Texts, others: readonly Other[]): Fragment {
  const { event, grant_id: grant, actor, user_id: user } = entry
  // Any caller may have typed the address at a sign-in that failed.
  const doer = actor ?? (event === 'sign-in.failed' ? null : user)
  const grantUri = grant === null ? undefined : linkFor(frame, 'grants', grant)
  const parts = [
    ...others.map((one) => one.link(frame, names)),
    ...(grant === null || grantUri === undefined ? [] : [html`grant <a href="${grantUri}">${code(grant)}</a>`]),
    ...(doer === null || !frame.mayOpen('/console/audit') ? [] : [allBy(doer, names)]),
  ]
  return parts.length === 0 ? undefined : html`<p>${dotted(parts)}</p>`
}

function allBy(doer: string, names: Texts): Markup {
  const by = html`All by ${name(nameOf(names, doer) ?? doer, '(no name)')}`
  return html`<a href="${listAddress('audit', 'actor', doer)}">${by}</a>`
}

/** The event as the API lists it, without what it does not have. */
function rawOf(entry: AuditEntryDocument): Markup {
  return json(Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null)))
}

/** JSON whose quotation marks are no entities, because a page has two thousand. */
function json(value: unknown): Markup {
  if (typeof value === 'string') return html`"${JSON.stringify(value).slice(1, -1)}"`
  if (typeof value !== 'object' || value === null) return html`${String(value)}`
  const members = Object.entries(value).map(
    ([member, one], index) => html`${index === 0 ? '' : ', '}"${member}": ${json(one)}`,
  )
  return html`{ ${members} }`
}
