import { nameUser } from '../../protocol/sign-in/account.ts'
import type { WholeUserDocument } from '../../admin/user/tasks.ts'
import { html } from '../../web/markup.ts'
import { feed, type ListedEvents } from '../feed.ts'
import { linkTo } from '../links.ts'
import { filterBar, type Views } from '../list.ts'
import { name } from '../parts.ts'
import { screen } from '../screen.ts'

interface Answers {
  readonly list: ListedEvents
  readonly user: WholeUserDocument
}

const VIEWS: Views = {
  filter: 'view',
  all: 'Everything',
  views: { 'failed-sign-ins': 'Failed sign-ins', security: 'Security' },
}

/** All that happened with an account, also for a person who has no audit. */
export const USER_ACTIVITY = screen<Answers>({
  path: '/console/users/{user_id}/activity',
  section: 'users',
  reads: {
    list: { task: 'user.list-events', input: () => ({}) },
    user: { task: 'user.show', input: () => ({}) },
  },
  filters: ['view', 'since', 'until'],
  forms: [],
  names: ({ list }) => list.names,
  view({ list, user }, frame) {
    const own = nameUser({ ...user, id: user.user_id })
    return {
      title: `Activity of ${own}`,
      main: html`<div class="heading">
          <h1>Activity of <a href="${linkTo('users', user.user_id)}">${name(own, '(no name)')}</a></h1>
        </div>
        ${filterBar(frame, VIEWS, list.names)} ${feed(frame, list)}`,
    }
  },
})
