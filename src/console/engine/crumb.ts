import { NO_PARAMETERS } from '../../base/message.ts'
import { html, type Markup } from '../../web/markup.ts'
import { downIcon } from '../icons.ts'
import { BACK } from '../links.ts'
import { sectionsOf } from '../sections.ts'
import { findScreen, isWithin, mayOpen, screenAbove, type OpenScreen } from './open-screen.ts'

/** What an object is called that has screens of its own below it, by the parameter of its path. */
const OBJECTS: Readonly<Record<string, string>> = {
  organization_id: 'Organization',
  client_id: 'Client',
  user_id: 'User',
  resource: 'API',
  provider_id: 'Provider',
}

/** Screens that a person opens from each other one. */
const FROM_ANYWHERE: ReadonlySet<string> = new Set(['/console/found'])

/**
 * The link to the screen above, which a screen of the side does not have. A list is shown with the filters that it had: the address names
 * their values and no path, so that the link leads nowhere else.
 */
export function crumbOf({ request, signedIn: { administrator } }: OpenScreen): Markup | undefined {
  const entries = sectionsOf(administrator.organizationId)
  const above = screenAbove(request.path)
  if (above === '' || FROM_ANYWHERE.has(request.path) || entries.some(({ path }) => path === request.path))
    return undefined
  const found = findScreen({ path: above, query: NO_PARAMETERS })
  if (found === undefined || !isWithin(found, administrator) || !mayOpen(above, administrator)) return undefined
  const { filters, path } = found.screen
  const given = new URLSearchParams(request.query.get(BACK) ?? '')
  const kept = [...given].filter(([name]) => name === 'before' || filters.includes(name))
  const to = kept.length === 0 ? above : `${above}?${new URLSearchParams(kept).toString()}`
  const parameter = /\{(\w+)\}$/.exec(path)?.[1]
  const entry = entries.find((one) => one.path === above)
  const label = entry?.label ?? (parameter === undefined ? 'Back' : OBJECTS[parameter])
  return html`<p class="crumbs"><a href="${to}">${downIcon}${label}</a></p>`
}
