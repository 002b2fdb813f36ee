import type { AccountTexts } from './account-texts.ts'
import { html } from '../markup.ts'

export const accountGerman: AccountTexts = {
  pages: {
    overview: 'Ihr Konto',
    apps: 'Verbundene Apps',
    sessions: 'Wo Sie angemeldet sind',
    security: 'Anmeldung und Sicherheit',
    data: 'Ihre Daten',
    'remove-app': 'Eine App entfernen',
    password: 'Ihr Passwort',
    'add-provider': 'Ein Konto hinzufügen',
    'remove-provider': 'Ein Konto entfernen',
    'set-up-app': 'Authenticator-App einrichten',
    'recovery-codes': 'Wiederherstellungscodes',
    'remove-two-step': 'Anmeldung in zwei Schritten ausschalten',
  },
  navigation: 'Konto',
  notices: {
    'name-changed': 'Ihr Name wurde geändert.',
    'app-removed': 'Die App wurde entfernt. Sie hat keinen Zugriff mehr und muss Sie neu fragen.',
    'session-ended': 'Dieser Browser ist abgemeldet.',
    'sessions-ended': 'Alle anderen Browser sind abgemeldet.',
    'password-set': 'Ihr Passwort ist gesetzt. Alle anderen Browser sind abgemeldet.',
    'password-changed': 'Ihr Passwort wurde geändert. Alle anderen Browser sind abgemeldet.',
    'method-added': 'Sie können sich ab jetzt auch so anmelden.',
    'method-removed': 'Sie können sich so nicht mehr anmelden.',
    'two-step-removed': 'Die Anmeldung in zwei Schritten ist aus. Ihre Wiederherstellungscodes gelten nicht mehr.',
  },
  save: 'Speichern',
  cancel: 'Abbrechen',
  remove: 'Entfernen',
  removeHeading: (name) => html`${name} entfernen?`,

  name: 'Name',
  nameHint: 'Apps und die Mitglieder Ihrer Organisationen sehen ihn. Das Feld darf leer sein.',
  nameUnusable: 'Ein Name hat höchstens 200 Zeichen, die alle sichtbar sind.',
  nameOfApplication: 'Er kommt aus der Anwendung, in der Sie sich anmelden. Ändern Sie ihn dort.',
  noName: 'keiner',
  verified: 'bestätigt',
  unverified: 'nicht bestätigt',
  noEmail: 'keine',
  organizations: 'Organisationen',

  noApps: 'Sie haben keiner App erlaubt, Ihr Konto zu verwenden.',
  appsHint: 'Diese Apps können Ihr Konto verwenden. Entfernen Sie die Apps, die Sie nicht mehr benutzen.',
  removeAppConsequence: 'Sie verliert sofort den Zugriff. Wenn Sie sie wieder benutzen, muss sie Sie vorher fragen.',
  on: (apis) => html`bei ${apis}`,
  forOrganization: (organization) => html`für ${organization}`,
  used: (allowed, used, end) => `Erlaubt ${allowed} · benutzt ${used} · endet am ${end}`,
  returns: (allowed) => `Erlaubt ${allowed} · hat jetzt keinen Zugriff und bekommt ihn wieder, ohne Sie zu fragen`,
  moreApps: 'Es gibt weitere. Sie stehen hier, wenn Sie einige von diesen entfernt haben.',

  sessionsHint:
    'Melden Sie Browser ab, die Sie nicht kennen oder nicht mehr benutzen, und ändern Sie danach Ihr Passwort.',
  unknownBrowser: 'Unbekannter Browser',
  agent: (browser, system) => `${browser} auf ${system}`,
  thisBrowser: 'Dieser Browser',
  seen: (started, seen) => `Angemeldet ${started} · gesehen ${seen}`,
  signedInBy: {
    pwd: 'mit Passwort',
    fed: 'in der Anwendung des Betreibers',
    otp: 'mit einer Authenticator-App',
    pop: 'mit einem Passkey',
    mfa: 'mit einem zweiten Schritt',
  },
  signedInAt: (provider) => html`bei ${provider}`,
  from: (network) => `aus ${network}`,
  fromThisComputer: 'von diesem Computer',
  endOthers: 'Alle anderen abmelden',

  providers: 'Konten bei anderen Anbietern',
  noIdentity: 'Sie können sich auch mit einem Konto anmelden, das Sie woanders haben.',
  addProvider: 'Ein Konto hinzufügen',
  addHint: 'Sie melden sich beim Anbieter an und kommen dann hierher zurück.',
  identityOf: (email) => html`Sie können sich mit Ihrem Konto ${email} anmelden.`,
  identity: 'Sie können sich mit Ihrem Konto dort anmelden.',
  identityUsed: (linked, used) => `Hinzugefügt ${linked} · benutzt ${used}`,
  removeProviderConsequence:
    'Danach können Sie sich mit diesem Konto nicht mehr anmelden. Andere Browser, in denen Sie sich damit angemeldet haben, werden abgemeldet.',
  stays: {
    last: 'Es bleibt, weil Sie sich sonst nicht anmelden könnten.',
    required: 'Es bleibt, weil der Betreiber es für Ihre E-Mail-Adresse verlangt.',
  },
  hasPassword: 'Sie haben ein Passwort.',
  hasNoPassword: 'Sie haben kein Passwort.',
  noMethods: 'An Ihrer Anmeldung können Sie hier nichts ändern. Fragen Sie den Betreiber.',
  newPassword: 'Neues Passwort',
  newPasswordHint: (shortest) => `Mindestens ${shortest} Zeichen. Vier Wörter kann man sich gut merken.`,
  repeatPassword: 'Neues Passwort wiederholen',
  changePassword: 'Passwort ändern',
  otherSessionsEnd:
    'Damit werden Sie in allen anderen Browsern abgemeldet. Ihre Apps bleiben verbunden und fragen Sie bei der nächsten Anmeldung dort neu.',
  twoStep: 'Anmeldung in zwei Schritten',
  twoStepOff: 'Sie ist aus. Mit ihr geben Sie beim Anmelden auch einen Code aus einer Authenticator-App ein.',
  twoStepVoid:
    'Ihre App funktioniert hier nicht mehr. Richten Sie eine andere ein und löschen Sie den Eintrag in Ihrer App.',
  twoStepOn: (since) => `Sie ist an. Sie haben Ihre Authenticator-App ${since} eingerichtet.`,
  recoveryLeft: (count) =>
    count === 1 ? 'Sie haben noch 1 Wiederherstellungscode.' : `Sie haben noch ${count} Wiederherstellungscodes.`,
  setUpTwoStep: 'Einrichten',
  replaceApp: 'Eine andere App einrichten',
  appReplaced:
    'Die App, die Sie jetzt haben, und ihre Wiederherstellungscodes gelten dann nicht mehr. Alle anderen Browser werden abgemeldet.',
  newRecoveryCodes: 'Neue Wiederherstellungscodes',
  newCodesConsequence: 'Sie bekommen zehn neue Codes. Die, die Sie jetzt haben, gelten dann nicht mehr.',
  codesSaved: 'Ich habe sie gespeichert',
  switchOffTwoStep: 'Ausschalten',
  switchOffConsequence:
    'Dann reicht Ihr Passwort oder Ihr Konto bei einem Anbieter, um sich anzumelden. Ihre Wiederherstellungscodes gelten dann nicht mehr.',
  passwordProblems: {
    'password-too-short': (shortest) =>
      `Ein Passwort hat mindestens ${shortest} Zeichen. Vier Wörter kann man sich gut merken.`,
    'password-too-long': () => 'So lange Passwörter nehmen wir nicht an. Vier Wörter kann man sich gut merken.',
    'password-common': () => 'Dieses Passwort ist leicht zu erraten. Vier Wörter kann man sich gut merken.',
    'passwords-differ': () => 'Die beiden Passwörter sind verschieden.',
  },
  confirmFirst:
    'Ihre letzte Anmeldung ist vielleicht länger her. Bestätigen Sie, dass Sie es sind, bevor Sie weitermachen.',
  confirm: 'Bestätigen, dass Sie es sind',

  kept: 'Was über Sie gespeichert ist',
  keptItems: [
    'Ihr Konto: E-Mail, Name, Profil, und wann Sie sich zuerst angemeldet haben',
    'Ihre Konten bei anderen Anbietern, mit denen Sie sich anmelden können',
    'die Organisationen, zu denen Sie gehören',
    'die Apps, denen Sie etwas erlaubt haben, und was',
    'die Browser, in denen Sie angemeldet sind',
    'die neuesten Ereignisse zu Ihrem Konto, zum Beispiel Anmeldungen',
  ],
  keptLater:
    'Wird Ihr Konto gelöscht, bleiben die Ereignisse noch einige Zeit gespeichert, ohne Ihre E-Mail und Ihren Namen. Wie lange, weiß der Betreiber.',
  download: 'Als Datei herunterladen',

  linkMethodsHeading: 'Welche davon gehören Ihnen?',
  linkMethods: (account) =>
    html`Mit diesen Konten kann man sich bei ${account} anmelden. Wählen Sie die, die Sie kennen. Die anderen werden im
    nächsten Schritt entfernt.`,
  application: 'Die Anwendung des Betreibers',
  goOn: 'Weiter',
  invitationHeading: (brand) => html`Willkommen bei ${brand}`,
  invitationTitle: 'Willkommen',
  resetHeading: 'Neues Passwort wählen',
  linkWithoutPassword: (account) => html`Wählen Sie, wie sich ${account} anmeldet.`,
  linkFor: (account) => html`Wählen Sie ein Passwort für ${account}.`,
  resetConsequence:
    'Damit werden Sie überall abgemeldet, und jede App muss Sie neu fragen. Ein bisheriges Passwort gilt nicht mehr.',
  setPassword: 'Passwort setzen',
  linkUsedHeading: 'Ihr Passwort ist gesetzt',
  linkUsed: 'Melden Sie sich jetzt damit an.',
  toAccount: 'Zu Ihrem Konto',
}
