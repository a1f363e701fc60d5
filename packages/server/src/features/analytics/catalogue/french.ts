import type { StatisticsMeta } from '@millrace/contract/resources/statistics-meta.ts'

/** Title and description of a member; a ratio is described by its formula, in every language. */
type French = readonly [title: string, description?: string]

const oneAxis =
  'Un seul axe avec les temps des autres sources : en nommer un découpe et borne chaque source par son propre temps.'
const os = 'Système d’exploitation, d’après le user-agent ; null s’il ne le dit pas.'
const browser = 'Navigateur, d’après le user-agent ; null s’il ne le dit pas.'
const fromUrl = 'Lu dans l’`url` de l’événement ; null s’il n’y en a pas.'
const utm = (name: string) => `Paramètre \`${name}\` de l’URL, dans la chaîne de requête, décodé. ${fromUrl}`
const firstOfSession = 'Du premier événement de la session.'
const utmOfSession = (name: string) =>
  `Paramètre \`${name}\` de l’URL, décodé. Du premier événement de la session ; null s’il n’y en a pas.`
const utmOfContent = (name: string) =>
  `Paramètre \`${name}\` de l’adresse du contenu ; null s’il n’y en a pas.`
const earliest = 'Le premier événement de la commande le donne.'
const uplift = (what: string, rest: string) =>
  `\`${what}\` au-delà de ce que ce serait si les contenus individualisés avaient le taux des contenus par défaut : moins (${rest}) / (\`workflows.displays\` - \`workflows.individualizedDisplays\`) * \`workflows.individualizedDisplays\`. Null si aucun contenu par défaut n’a été affiché.`
const level = (number: number) =>
  `Nom actuel de la catégorie de la branche au niveau ${number} de l’arbre des catégories : la sienne, ou celle qui est au-dessus d’elle à ce niveau ; null si l’arbre ne va pas jusque-là, et sans catégorie.`

/** Every member of the catalogue, by its id. */
export const frenchMembers: Readonly<Record<string, French>> = {
  'events.count': [
    'Événements',
    'Événements, chaque `eventId` d’une source de données une fois. Groupés par `events.item`, les événements qui contiennent l’identifiant.',
  ],
  'events.people': [
    'Personnes',
    'Personnes distinctes. Une personne est le `clientId` d’un événement, sinon celui qu’un `identify` a lié à son `tmpId` à un moment quelconque, événements antérieurs compris, sinon le `tmpId`.',
  ],
  'events.identifiedPeople': [
    'Personnes identifiées',
    'Personnes distinctes connues par un `clientId`, le leur ou un que lie un `identify`.',
  ],
  'events.devices': ['Appareils', 'Appareils distincts, d’après le `tmpId` des événements.'],
  'events.sessions': [
    'Sessions',
    'Suites d’événements d’une personne sans pause de plus de 30 minutes. Une session appartient à l’intervalle de temps où elle commence, et à une période si elle y commence. Les filtres passent d’abord et les dimensions divisent : les événements qui passent les filtres, d’une valeur de chaque dimension, font les suites ; grouper par une dimension et filtrer par ses valeurs concordent donc.',
  ],
  'events.items': ['Articles', 'Identifiants dans les `ids` des événements, répétitions comprises.'],
  'events.perPerson': ['Événements par personne'],
  'purchases.count': [
    'Achats',
    'Commandes passées. Les événements `purchase` et `purchase_references` de même `transId` n’en font qu’une, au moment du premier ; un événement sans `transId` en est une à lui seul. Groupés par `purchases.item`, les achats qui le contiennent.',
  ],
  'purchases.revenue': [
    'Chiffre d’affaires',
    'Somme des valeurs des achats, exacte au centime. Le premier événement `purchase` d’une commande donne sa valeur. Groupée par `purchases.item`, la valeur entière de chaque achat qui le contient.',
  ],
  'purchases.buyers': ['Acheteurs', 'Personnes distinctes ayant fait un achat.'],
  'purchases.references': [
    'Références',
    'Identifiants de tous les achats, répétitions comprises. Les `ids` de `purchase_references` comptent si une commande en a, sinon ceux de `purchase` ; de plusieurs événements de ce genre, le premier.',
  ],
  'purchases.averageOrderValue': ['Panier moyen'],
  'purchases.revenuePerBuyer': ['Chiffre d’affaires par acheteur'],
  'purchases.perBuyer': ['Achats par acheteur'],
  'purchases.referencesPerPurchase': ['Références par achat'],
  'purchases.afterClick': [
    'Achats après un clic',
    'Achats que précède, dans la fenêtre des clics, un clic de la même personne sur le contenu d’un workflow. Groupé par une dimension de `workflows`, un achat compte là où se trouve le dernier de ces clics.',
  ],
  'purchases.buyersAfterClick': [
    'Acheteurs après un clic',
    'Personnes distinctes ayant fait un achat qui compte dans `purchases.afterClick`.',
  ],
  'purchases.individualizedAfterClick': [
    'Achats après un clic sur un contenu individualisé',
    'Ceux de `purchases.afterClick` dont le clic portait sur un contenu individualisé.',
  ],
  'purchases.timeFromClick': ['Délai depuis le clic', 'Moyenne des secondes entre ce clic et l’achat.'],
  'purchases.influencedRevenue': [
    'Chiffre d’affaires influencé',
    'Valeur des achats qui suivent une interaction avec un workflow que la fenêtre de son genre retient, exacte au centime. Groupée par une dimension de `workflows`, chacune de ces interactions en reçoit sa part selon le modèle d’attribution de l’entreprise.',
  ],
  'purchases.individualizedInfluencedRevenue': [
    'Chiffre d’affaires influencé par du contenu individualisé',
    'Les parts de `purchases.influencedRevenue` que reçoivent les interactions avec un contenu individualisé.',
  ],
  'purchases.directRevenue': [
    'Chiffre d’affaires direct',
    'Valeur des mêmes achats. Groupée par une dimension de `workflows`, la dernière interaction la reçoit en entier, quel que soit le modèle.',
  ],
  'purchases.influencedCount': [
    'Achats influencés',
    'Achats qui suivent une interaction avec un workflow que la fenêtre de son genre retient. Groupé par une dimension de `workflows`, chacune de ces interactions reçoit sa part de l’achat selon le modèle d’attribution de l’entreprise, en millionièmes dont la somme est 1.',
  ],
  'sessions.count': [
    'Sessions',
    'Suites d’événements d’une personne sans pause de plus de 30 minutes. Une session appartient à l’intervalle de temps où elle commence, et à une période si elle y commence. Les filtres choisissent parmi des sessions entières.',
  ],
  'sessions.people': ['Personnes', 'Personnes distinctes ayant commencé une session.'],
  'sessions.duration': [
    'Durée',
    'Moyenne des secondes entre le premier et le dernier événement d’une session ; 0 pour une session d’un seul événement.',
  ],
  'sessions.events': ['Événements', 'Événements des sessions, ceux d’après la fin de la période compris.'],
  'sessions.bounces': ['Rebonds', 'Sessions d’un seul événement.'],
  'sessions.bounceRate': ['Taux de rebond'],
  'sessions.eventsPerSession': ['Événements par session'],
  'sessions.perPerson': ['Sessions par personne'],
  'workflows.count': ['Interactions', 'Affichages de contenus de workflows et clics sur eux.'],
  'workflows.displays': ['Affichages', 'Contenus de workflows qui ont été affichés.'],
  'workflows.clicks': ['Clics', 'Clics sur des contenus de workflows.'],
  'workflows.openings': [
    'Ouvertures',
    'Suites d’affichages à une personne dans un message, sinon sur une page, sans pause de plus de 30 secondes. Une ouverture appartient à l’intervalle de temps où elle commence, et à une période si elle y commence. Les filtres passent d’abord et les dimensions divisent ; grouper par une dimension et filtrer par ses valeurs concordent donc.',
  ],
  'workflows.openers': ['Ouvreurs', 'Personnes distinctes à qui un contenu a été affiché.'],
  'workflows.clickers': ['Cliqueurs', 'Personnes distinctes qui ont cliqué sur un contenu.'],
  'workflows.individualizedDisplays': ['Affichages individualisés', 'Affichages de contenus individualisés.'],
  'workflows.individualizedOpenings': [
    'Ouvertures individualisées',
    'Ouvertures de contenus individualisés : `workflows.openings` de ces seuls affichages.',
  ],
  'workflows.individualizedOpeners': [
    'Ouvreurs individualisés',
    'Personnes distinctes à qui un contenu individualisé a été affiché.',
  ],
  'workflows.individualizedClicks': ['Clics individualisés', 'Clics sur des contenus individualisés.'],
  'workflows.generationTime': [
    'Temps de génération',
    'Moyenne des millisecondes pour produire un contenu, sur les affichages pour lesquels elle est connue.',
  ],
  'workflows.openingsPerOpener': ['Ouvertures par ouvreur'],
  'workflows.clicksPerClicker': ['Clics par cliqueur'],
  'workflows.clickToOpenRate': ['Taux de clics sur ouvertures'],
  'workflows.clickerToOpenerRate': ['Taux de cliqueurs sur ouvreurs'],
  'workflows.individualizedDisplayRate': ['Taux d’affichages individualisés'],
  'workflows.individualizedOpenerRate': ['Taux d’ouvreurs individualisés'],
  'workflows.conversionRate': ['Taux de conversion des clics'],
  'workflows.uniqueConversionRate': ['Taux de conversion des cliqueurs'],
  'workflows.clickUplift': [
    'Gain de clics',
    uplift('workflows.individualizedClicks', '`workflows.clicks` - `workflows.individualizedClicks`'),
  ],
  'workflows.conversionUplift': [
    'Gain de conversions',
    uplift(
      'purchases.individualizedAfterClick',
      '`purchases.afterClick` - `purchases.individualizedAfterClick`',
    ),
  ],
  'workflows.revenueUplift': [
    'Gain de chiffre d’affaires',
    uplift(
      'purchases.individualizedInfluencedRevenue',
      '`purchases.influencedRevenue` - `purchases.individualizedInfluencedRevenue`',
    ),
  ],
  'events.time': ['Temps', `Quand l’événement s’est produit. ${oneAxis}`],
  'events.name': [
    'Événement',
    'Nom de l’événement, comme `page_view`, `add_cart`, `purchase` ou un nom à vous. Un événement renommé répond sous son nouveau nom.',
  ],
  'events.datasource': [
    'Source de données',
    'Identifiant de la source de données qui a recueilli l’événement.',
  ],
  'events.url': ['Adresse', 'Adresse de la page ou écran de l’application, tels qu’ils ont été envoyés.'],
  'events.host': [
    'Hôte',
    `Nom d’hôte en minuscules, sans port ; un écran d’application n’en a pas. ${fromUrl}`,
  ],
  'events.path': [
    'Chemin',
    `Chemin sans requête ni fragment ; \`/\` pour une adresse sans chemin. D’un écran d’application, qui n’a pas de \`//\`, tout son identifiant sans requête ni fragment, comme \`screen/home\`. ${fromUrl}`,
  ],
  'events.utmSource': ['Source UTM', utm('utm_source')],
  'events.utmMedium': ['Support UTM', utm('utm_medium')],
  'events.utmCampaign': ['Campagne UTM', utm('utm_campaign')],
  'events.utmTerm': ['Terme UTM', utm('utm_term')],
  'events.utmContent': ['Contenu UTM', utm('utm_content')],
  'events.referrerHost': [
    'Site référent',
    'Hôte de la page ou application qui a mené à l’événement, en minuscules ; null si aucun n’a été envoyé, et si c’est celui de la page elle-même.',
  ],
  'events.person': [
    'Personne',
    'Le `clientId` de l’événement, sinon celui lié à son `tmpId`, sinon le `tmpId`.',
  ],
  'events.device': ['Appareil', 'Identité anonyme de l’appareil : le `tmpId` de l’événement.'],
  'events.isIdentified': [
    'Est identifiée',
    'Si la personne est connue par un `clientId`, le sien ou un que lie un `identify`.',
  ],
  'events.item': [
    'Article',
    'Une ligne par identifiant dans les `ids` ; un événement qui n’en a pas n’a pas de ligne. Un filtre garde les identifiants qui le passent, et les événements qui en contiennent un.',
  ],
  'events.deviceType': [
    'Type d’appareil',
    'Genre d’appareil qui a envoyé l’événement, d’après son user-agent.',
  ],
  'events.os': ['Système d’exploitation', os],
  'events.browser': ['Navigateur', browser],
  'events.country': [
    'Pays',
    'Pays de l’adresse de l’expéditeur (ISO 3166-1 alpha-2) au moment de la collecte ; l’adresse n’est pas gardée. Null si elle est inconnue, pour les événements envoyés par des serveurs, et tant que le réglage `countries` est éteint.',
  ],
  'purchases.time': ['Temps', `Quand le premier événement de la commande s’est produit. ${oneAxis}`],
  'purchases.transaction': [
    'Transaction',
    'Identifiant de la commande : le `transId` de ses événements ; null s’ils n’en ont pas.',
  ],
  'purchases.person': [
    'Personne',
    'Qui a acheté : le `clientId` du premier événement qui en a un, le sien ou un lié à son `tmpId`, sinon le `tmpId` du premier événement.',
  ],
  'purchases.item': [
    'Article',
    'Une ligne par identifiant de l’achat. Un filtre garde les identifiants qui le passent, et les achats qui en contiennent un.',
  ],
  'purchases.deviceType': [
    'Type d’appareil',
    `Genre d’appareil qui a envoyé la commande, d’après son user-agent. ${earliest}`,
  ],
  'purchases.os': ['Système d’exploitation', `${os} ${earliest}`],
  'purchases.datasource': [
    'Source de données',
    `Identifiant de la source de données qui a recueilli la commande. ${earliest}`,
  ],
  'sessions.time': ['Temps', `Quand la session a commencé. ${oneAxis}`],
  'sessions.entryPath': [
    'Chemin d’entrée',
    `Chemin de l’adresse, ou écran d’une application, comme dans \`events.path\`. ${firstOfSession}`,
  ],
  'sessions.entryHost': ['Hôte d’entrée', `Hôte de l’adresse, comme dans \`events.host\`. ${firstOfSession}`],
  'sessions.exitPath': [
    'Chemin de sortie',
    'Chemin de l’adresse, ou écran d’une application, comme dans `events.path`. Du dernier événement de la session qui a une adresse.',
  ],
  'sessions.exitHost': [
    'Hôte de sortie',
    'Hôte de l’adresse, comme dans `events.host`. Du dernier événement de la session qui a une adresse.',
  ],
  'sessions.referrerHost': [
    'Site référent',
    `Hôte de la page ou application qui a mené à la session, comme dans \`events.referrerHost\`. ${firstOfSession}`,
  ],
  'sessions.channel': [
    'Canal',
    'Comment la personne est venue, d’après les champs UTM et le site référent du premier événement de la session : mail, campaign, search, social, referral ou direct.',
  ],
  'sessions.utmSource': ['Source UTM', utmOfSession('utm_source')],
  'sessions.utmMedium': ['Support UTM', utmOfSession('utm_medium')],
  'sessions.utmCampaign': ['Campagne UTM', utmOfSession('utm_campaign')],
  'sessions.deviceType': ['Type d’appareil', `Genre d’appareil, d’après son user-agent. ${firstOfSession}`],
  'sessions.os': ['Système d’exploitation', `${os} ${firstOfSession}`],
  'sessions.browser': ['Navigateur', `${browser} ${firstOfSession}`],
  'sessions.country': ['Pays', `Pays de l’expéditeur, comme dans \`events.country\`. ${firstOfSession}`],
  'sessions.isNew': [
    'Est nouvelle',
    'Si c’est la première session de la personne : elle n’a aucun événement avant, à aucun moment.',
  ],
  'sessions.person': [
    'Personne',
    'À qui est la session : un `clientId`, ou le `tmpId` d’un appareil sans `clientId`.',
  ],
  'workflows.time': ['Temps', `Quand le contenu a été affiché ou cliqué. ${oneAxis}`],
  'workflows.id': [
    'Identifiant du workflow',
    'Identifiant du workflow. Comme toutes les dimensions d’une interaction, il groupe aussi ce qui est attribué des achats : `purchases.afterClick`, `purchases.influencedRevenue` et les autres de l’attribution.',
  ],
  'workflows.name': [
    'Workflow',
    'Nom actuel du workflow ; les workflows de même nom n’en font qu’un. L’identifiant de celui qui n’existe plus.',
  ],
  'workflows.version': ['Version', 'Identifiant de la version du workflow qui était en service.'],
  'workflows.branch': ['Branche', 'Identifiant de la branche qui a donné le contenu.'],
  'workflows.isIndividualized': ['Est individualisé', 'Si la branche donne un contenu individualisé.'],
  'workflows.entrypoint': ['Point d’entrée', 'Identifiant du point d’entrée.'],
  'workflows.integration': ['Intégration', 'Identifiant de l’intégration.'],
  'workflows.zone': ['Zone', 'Numéro de la zone : la place du point d’entrée, à partir de 0.'],
  'workflows.zoneType': ['Type de zone', 'Canal du point d’entrée, comme `email` ou `web`.'],
  'workflows.format': ['Format', 'Ce que le canal intègre, comme `embed-image`.'],
  'workflows.outputType': ['Type de contenu', 'Genre de contenu, comme `image` ou `json`.'],
  'workflows.message': ['Message', 'Message qui porte le contenu : le paramètre `trk-m`.'],
  'workflows.person': [
    'Personne',
    'Le `clientId` de l’interaction, sinon celui lié à son `tmpId`, sinon le `tmpId`.',
  ],
  'workflows.isAnonymous': [
    'Est anonyme',
    'Si la personne n’est connue par aucun `clientId`, ni le sien ni un que lie un `identify`.',
  ],
  'workflows.deviceType': [
    'Type d’appareil',
    'Genre d’appareil qui a demandé le contenu, d’après son user-agent.',
  ],
  'workflows.os': ['Système d’exploitation', os],
  'workflows.datasource': [
    'Source de données',
    'Identifiant de la source de données qui garde l’interaction.',
  ],
  'workflows.mailClient': ['Logiciel de messagerie', 'Programme dans lequel un message a été ouvert.'],
  'workflows.language': ['Langue', 'Langue du contenu : le paramètre `trk-l`.'],
  'workflows.returnCode': [
    'Code de retour',
    'Pourquoi une exécution a été dégradée, comme 3501 ; null pour une qui a réussi.',
  ],
  'workflows.team': [
    'Équipe',
    'Équipe avec laquelle le workflow est partagé maintenant ; de plusieurs, tous les noms, triés, séparés par « , ». Null s’il n’y en a pas, et pour un workflow qui n’existe plus.',
  ],
  'workflows.category': [
    'Catégorie',
    'Nom actuel de la catégorie de la branche ; null sans catégorie. L’identifiant de celle qui n’existe plus.',
  ],
  'workflows.categoryLevel1': ['Catégorie, niveau 1', level(1)],
  'workflows.categoryLevel2': ['Catégorie, niveau 2', level(2)],
  'workflows.categoryLevel3': ['Catégorie, niveau 3', level(3)],
  'workflows.utmSource': ['Source UTM', utmOfContent('utm_source')],
  'workflows.utmMedium': ['Support UTM', utmOfContent('utm_medium')],
  'workflows.utmCampaign': ['Campagne UTM', utmOfContent('utm_campaign')],
  'persons.cohort': [
    'Cohorte',
    'Groupes de personnes enregistrés, par leurs identifiants : `equals` garde les lignes des personnes de l’un d’eux, `notEquals` celles de toutes les autres. Un filtre de chaque source ; les lignes ne sont pas groupées par elle.',
  ],
}

/** Labels and parameters that a company's own facts have, and its tags, by how their ids begin. */
const ofCompanies: readonly (readonly [prefix: string, describe: (key: string) => string])[] = [
  ['events.label.', (key) => `Étiquette \`${key}\` de l’événement, en texte ; null s’il n’en a pas.`],
  [
    'purchases.label.',
    (key) =>
      `Étiquette \`${key}\` de la commande, en texte : de son premier événement qui en a une, sinon null.`,
  ],
  [
    'workflows.parameter.',
    (key) => `Paramètre \`${key}\` de l’adresse du contenu, en texte ; null s’il n’y en a pas.`,
  ],
  [
    'tags.',
    () =>
      'Valeur de la clé d’étiquette que la branche a, par son nom actuel ; d’une clé à plusieurs valeurs pour une branche, toutes, triées par nom et séparées par « , ». Null s’il n’y en a pas.',
  ],
]

function frenchOf<Described extends { readonly title: string; readonly description: string }>(
  id: string,
  described: Described,
): Described {
  const known = Object.hasOwn(frenchMembers, id) ? frenchMembers[id] : undefined
  if (known) return { ...described, title: known[0], description: known[1] ?? described.description }
  const found = ofCompanies.find(([prefix]) => id.startsWith(prefix))
  return found ? { ...described, description: found[1](id.slice(found[0].length)) } : described
}

const mapped = <T>(members: Readonly<Record<string, T>>, map: (id: string, member: T) => T) =>
  Object.fromEntries(Object.entries(members).map(([id, member]) => [id, map(id, member)]))

/** Titles and descriptions in French; ids, formats and what fits together are the same. */
export const frenchMeta = (meta: StatisticsMeta): StatisticsMeta => ({
  ...meta,
  measures: mapped(meta.measures, frenchOf),
  dimensions: mapped(meta.dimensions, frenchOf),
})
