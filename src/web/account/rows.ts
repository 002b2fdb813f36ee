import type { Removal } from '../../ports/pages/account.ts'
import type { HiddenFields } from '../../ports/pages/parts.ts'
import type { View } from '../layout.ts'
import { type Fragment, html, type Markup } from '../markup.ts'
import { accountForm } from './frame.ts'

/** A thing of the account, and the one thing that its user can do with it here. */
export interface Row {
  readonly heading: Fragment
  readonly facts: Fragment
  readonly action: RowAction | undefined
}

/** `form`: it is posted at once. A link leads to the page of a change. */
export type RowAction = { readonly text: Fragment; readonly isInHeading?: true } & (
  | { readonly uri: string }
  | { readonly action: string; readonly csrf: string; readonly hidden: HiddenFields }
)

/** A list of rows. A screen reader reads an action with the heading of its row, or by the heading alone, which then has its words. */
export function rowList(rows: readonly Row[]): Markup {
  return html`<ul class="rows" role="list">
    ${rows.map(
      ({ heading, facts, action }, index) =>
        html`<li>
          <div>
            <h2 id="row-${index}">${heading}</h2>
            ${facts}
          </div>
          ${action === undefined ? undefined : actionOf(action, index)}
        </li> `,
    )}
  </ul>`
}

function actionOf(action: RowAction, index: number): Markup {
  const id = `act-${index}`
  const name = action.isInHeading === true ? `row-${index}` : `${id} row-${index}`
  const attributes = html`class="button" id="${id}" aria-labelledby="${name}"`
  return 'uri' in action
    ? html`<a href="${action.uri}" ${attributes}>${action.text}</a>`
    : accountForm(
        action.action,
        action.csrf,
        action.hidden,
        html`<button type="submit" ${attributes}>${action.text}</button>`,
      )
}

/** What is known of a thing, in the small type of a row. */
export function fact(text: Fragment): Markup {
  return html`<p class="small muted">${text}</p>`
}

/** The link to the page that asks before a sign-in method is removed. undefined: the method stays. */
export function removalOf({ texts }: View, removal: Removal): RowAction | undefined {
  return removal.kind === 'open' ? { uri: removal.uri, text: texts.show('account.remove') } : undefined
}

/** Why a sign-in method stays. */
export function stays({ texts }: View, removal: Removal): Fragment {
  return removal.kind === 'open' ? undefined : fact(texts.show(`account.stays.${removal.kind}`))
}
