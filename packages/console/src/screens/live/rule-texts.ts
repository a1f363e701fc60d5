import { eventRules, isRuleId, type RuleId } from '@millrace/contract/events/rules.ts'
import { useLanguage } from '../../texts/texts.ts'

interface RuleText {
  readonly title: string
  /** What the sender does about it. */
  readonly fix?: string
}

/** The English texts are the contract's own. */
const french: Readonly<Record<RuleId, readonly [title: string, fix: string]>> = {
  'body-empty': [
    'Le corps est vide',
    'Envoyez un événement en objet JSON, ou une liste non vide d’événements.',
  ],
  'body-unparseable': [
    'Le corps est illisible',
    'Envoyez du JSON en UTF-8 (ou un formulaire, ou un objet JSON par ligne) et vérifiez Content-Encoding.',
  ],
  'body-encoding-unsupported': [
    'L’encodage du contenu n’est pas pris en charge',
    'Compressez en gzip, deflate ou br, une fois, ou pas du tout.',
  ],
  'body-too-large': ['Le corps est trop grand', 'Restez sous 5 Mo décompressés et sous 500 000 valeurs.'],
  'body-too-many-events': [
    'Le corps contient trop d’événements',
    'Envoyez au plus 2 000 événements par requête.',
  ],
  crawler: [
    'L’expéditeur est un robot',
    'Rien, si c’en est un. Un programme à vous envoie un user-agent qui ne nomme pas de robot.',
  ],
  'line-unparseable': [
    'Une ligne n’est pas du JSON',
    'Écrivez un objet JSON par ligne, sans retour à la ligne.',
  ],
  'person-erased': [
    'La personne de l’événement a été effacée',
    'Rien : les événements de mêmes identifiants sont refusés aussi longtemps que l’effacement le dit.',
  ],
  'consent-missing': [
    'L’événement ne dit pas que sa personne a consenti',
    'Envoyez consent: true avec les événements des personnes qui ont consenti ; la source n’en prend pas d’autres.',
  ],
  'event-not-object': [
    'L’événement n’est pas un objet',
    'Envoyez chaque événement en objet JSON avec les champs attendus.',
  ],
  'required-field-missing': [
    'Un champ obligatoire manque',
    'Envoyez key, name, url, tmpId, data, eventId et v avec chaque événement ; seul url peut être vide.',
  ],
  'required-field-wrong-type': [
    'Un champ obligatoire n’a pas le bon type',
    'Envoyez key, name, url, tmpId et eventId en textes.',
  ],
  'call-unknown': [
    'Le type d’un appel de forme Segment est inconnu',
    'Envoyez track, page, screen, identify, group ou alias comme type de chaque appel.',
  ],
  'key-mismatch': [
    'La clé appartient à une autre entreprise',
    'Envoyez comme key l’identifiant de l’entreprise qui possède la source de données.',
  ],
  'data-not-object': [
    'data n’est pas un objet simple',
    'Envoyez data en objet JSON ; {} quand il n’y a rien à dire.',
  ],
  'ids-wrong-type': [
    'data.ids n’est ni un texte ni une liste de textes',
    'Envoyez des identifiants en textes : "123" et non 123, un texte ou une liste de textes.',
  ],
  'ids-none-left': [
    'data.ids ne contient aucun identifiant',
    'Omettez data.ids quand aucun article n’est concerné ; jamais "undefined" ni "0".',
  ],
  'purchase-value-not-number': [
    'La valeur d’un achat n’est pas un nombre',
    'Envoyez data.value en nombre, ou en texte tel que "129.90" avec un point décimal.',
  ],
  'purchase-value-joined': [
    'La valeur d’un achat joint plusieurs montants',
    'Envoyez le total de la commande, sans point-virgule, virgule ni barre.',
  ],
  'purchase-value-out-of-range': [
    'La valeur d’un achat est hors limites',
    'Envoyez un montant d’au plus 16 chiffres avant la virgule.',
  ],
  'event-too-large': [
    'L’événement est trop grand',
    'Restez sous 1 Mio par événement ; envoyez l’identifiant d’un grand contenu plutôt que le contenu.',
  ],
  'engine-refused': [
    'L’entrepôt refuse l’événement',
    'Signalez-le : un événement conforme aux règles doit pouvoir être conservé.',
  ],
  'number-as-text': [
    'Un identifiant est un nombre',
    'Envoyez les identifiants en textes : les zéros initiaux et les longs nombres restent intacts.',
  ],
  'tmp-id-placeholder': [
    'tmpId est une valeur de remplacement',
    'Créez une identité anonyme avant le premier événement, ou envoyez clientId comme tmpId.',
  ],
  'client-id-placeholder': [
    'clientId est une valeur de remplacement',
    'N’envoyez clientId qu’une fois l’utilisateur connu.',
  ],
  'client-id-wrong-type': ['clientId n’est pas un texte', 'Envoyez clientId en texte, ou omettez-le.'],
  'referrer-wrong-type': [
    'referrer n’est pas un texte',
    'Envoyez referrer en texte, comme document.referrer le donne, ou omettez-le.',
  ],
  'timestamp-not-number': [
    'timestamp n’est pas un nombre',
    'Envoyez les millisecondes depuis le 1er janvier 1970 UTC en nombre.',
  ],
  'timestamp-out-of-range': [
    'timestamp est antérieur à 1980',
    'Envoyez des millisecondes, pas des secondes.',
  ],
  'timestamp-in-future': [
    'timestamp est plus de 24 heures dans l’avenir',
    'Vérifiez l’horloge de l’expéditeur, et que l’unité est la milliseconde.',
  ],
  'version-unknown': ['v n’est pas 1', 'Envoyez v comme le nombre 1.'],
  'ids-placeholder': [
    'data.ids contient des valeurs vides ou de remplacement',
    'N’envoyez que des identifiants d’articles ; omettez ce qui n’est pas connu.',
  ],
  'ids-too-many': [
    'data.ids contient plus de 10 000 valeurs',
    'Envoyez un événement par commande ou par page, pas par catalogue.',
  ],
  'ids-from-id': ['data.id remplace data.ids', 'Envoyez les identifiants sous data.ids.'],
  'value-ignored': [
    'data.value n’est pas un montant',
    'Envoyez data.value en nombre, ou une autre clé pour un autre contenu.',
  ],
  'value-float-tail': [
    'data.value finit par une erreur d’arrondi binaire',
    'Arrondissez les montants à deux décimales : 129.89999999999998 devait être 129.90.',
  ],
  'trans-id-wrong-type': ['data.transId n’est pas un texte', 'Envoyez data.transId en texte.'],
  'trans-id-placeholder': [
    'data.transId est une valeur de remplacement',
    'Envoyez l’identifiant de la commande, ou omettez data.transId.',
  ],
  'text-too-long': [
    'Un texte est trop long',
    'Restez sous 256 caractères pour name et eventId, 8 192 pour url et referrer, 512 pour les identités.',
  ],
  'text-not-clean': [
    'Un texte contient NUL ou une moitié de caractère',
    'Coupez les textes entre les caractères, et omettez NUL.',
  ],
  'labels-too-many': [
    'data contient plus de 500 étiquettes',
    'Envoyez les clés qui servent de filtres, pas des documents entiers.',
  ],
  'label-key-not-allowed': [
    'Une clé de data n’est pas permise',
    'Utilisez une clé qui n’est ni vide ni `__proto__`.',
  ],
  'label-too-deep': ['Une étiquette est trop imbriquée', 'Restez sous 32 niveaux dans data.'],
  'label-too-long': [
    'Une étiquette imbriquée est trop longue',
    'Restez sous 8 192 caractères de JSON pour un objet ou une liste de data.',
  ],
  'event-id-reused': [
    'Un eventId revient avec un autre contenu',
    'Donnez à chaque événement son propre eventId ; renvoyez un événement inchangé, ou pas du tout.',
  ],
  'erasure-begun': ['Une personne de votre entreprise est en cours d’effacement', 'Rien.'],
  'names-too-many': [
    'Il y a plus de 2 000 noms d’événements',
    'Nommez la sorte d’événement, et mettez ce qui change dans data : view avec {"page": "8271"}, pas view_8271.',
  ],
}

/** What a rule is called, and what helps; a rule of a later service is called by its id. */
export function useRuleText(): (rule: string) => RuleText {
  const language = useLanguage()
  return (rule) => {
    if (!isRuleId(rule)) return { title: rule }
    if (language === 'en') return eventRules[rule]
    const [title, fix] = french[rule]
    return { title, fix }
  }
}
