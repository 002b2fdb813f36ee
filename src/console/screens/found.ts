import { apiName } from '../words.ts'
import { allTexts } from '../../base/localized-text.ts'
import type { ApiDocument } from '../../admin/api/document.ts'
import type { ClientDocument } from '../../admin/client/document.ts'
import type { OrganizationDocument } from '../../admin/organization/organization.ts'
import { hasText } from '../../admin/page.ts'
import type { UserDocument } from '../../admin/user/tasks.ts'
import { listedNameOf } from '../../protocol/client/identity.ts'
import { code, html, type Fragment, type Markup } from '../../web/markup.ts'
import { linkTo, listAddress, type NamedList } from '../links.ts'
import { table } from '../list.ts'
import { id, name, scopes } from '../parts.ts'
import { screen } from '../screen.ts'
import type { Frame, Place } from '../engine/form.ts'
import { userFilter } from '../search.ts'
import { goesTo } from './clients.ts'

interface Answers {
  readonly clients: { readonly clients: readonly ClientDocument[]; readonly next: string | null }
  readonly users: { readonly users: readonly UserDocument[]; readonly next: string | null }
  readonly organizations: { readonly organizations: readonly OrganizationDocument[]; readonly next: string | null }
  readonly apis: { readonly apis: readonly ApiDocument[]; readonly next: string | null }
}

/** Of each kind. The list of the kind has all. */
const ROWS_SHOWN = 10

const textIn = ({ query }: Pick<Place, 'query'>): string | undefined => query['name']
const named = (place: Place) => ({ name: textIn(place), limit: ROWS_SHOWN })

/** What is called as the person typed, of every kind. A search examines as many rows as a page of the list does. */
export const FOUND = screen<Answers>({
  path: '/console/found',
  section: 'overview',
  reads: {
    clients: { task: 'client.list', input: named },
    users: {
      task: 'user.list',
      input: (place) => ({ [userFilter(textIn(place) ?? 'A')]: textIn(place), limit: ROWS_SHOWN }),
    },
    organizations: { task: 'organization.list', input: named },
    apis: { task: 'api.list', input: named },
  },
  filters: [],
  keeps: ['name'],
  forms: [],
  names: () => ({}),
  view(answers, frame) {
    const text = textIn(frame.place) ?? ''
    const rows = rowsOf(answers, text)
    const more = (['clients', 'users', 'organizations', 'apis'] as const).filter((list) => answers[list].next !== null)
    return {
      title: 'Search',
      main: html`<div class="heading">
          <h1>Search: ${name(text, '(nothing)')}</h1>
        </div>
        ${table<Row>(frame, {
          caption: 'What was found, of each kind the newest first',
          rows,
          empty: html`<p>${more.length === 0 ? 'Nothing has this text in its name.' : 'Nothing was found so far.'}</p>`,
          columns: [
            { heading: 'Name', cell: ({ to, shown }) => html`<a href="${to}">${shown}</a>` },
            { heading: 'What it is', cell: ({ kind }) => kind },
            { heading: 'Besides', isRest: true, cell: ({ besides }) => besides },
          ],
        })}
        ${more.length === 0 || text === '' ? undefined : others(frame, more, text)}`,
    }
  },
})

interface Row {
  readonly to: string
  readonly shown: Fragment
  readonly kind: string
  readonly besides: Fragment
}

function rowsOf({ clients, users, organizations, apis }: Answers, text: string): readonly Row[] {
  return [
    ...organizations.organizations.map(({ organization_id: object, name: called }) => ({
      to: linkTo('organizations', object),
      shown: name(called, '(no name)'),
      kind: 'Organization',
      besides: id(object),
    })),
    ...clients.clients.map((client) => ({
      to: linkTo('clients', client.client_id),
      shown: name(listedNameOf(client), '(no name)'),
      kind: 'Client',
      besides: goesTo(client),
    })),
    ...users.users.map(({ user_id: object, name: called, email }) => ({
      to: linkTo('users', object),
      shown: name(called ?? email, '(no name)'),
      kind: 'User',
      besides: name(called === null ? '' : email, '–'),
    })),
    ...apis.apis.map((api) => ({
      to: linkTo('apis', api.resource),
      shown: name(apiName(api), '(no name)'),
      kind: 'API',
      besides: html`${code(api.resource)} ${scopesWith(api, text)}`,
    })),
  ]
}

/** The scopes of an API by which it was found. */
function scopesWith({ scopes: all }: ApiDocument, text: string): Fragment {
  const found = all.filter(({ name: scope, sentence }) => hasText(text, scope, ...allTexts(sentence)))
  return found.length === 0 ? undefined : scopes(found.map(({ name: scope }) => scope).join(' '))
}

const WORDS: Readonly<Record<NamedList, string>> = {
  clients: 'clients',
  users: 'users',
  organizations: 'organizations',
  apis: 'APIs and scopes',
}

/** The lists in which the search goes on. */
function others({ place }: Frame, lists: readonly NamedList[], text: string): Markup {
  const links = lists.map((list) => {
    const filter = list === 'users' ? userFilter(textIn(place) ?? '') : 'name'
    return html`<li><a href="${listAddress(list, filter, text)}">Search on among the ${WORDS[list]}</a></li>`
  })
  return html`<ul class="plain">
    ${links}
  </ul>`
}
