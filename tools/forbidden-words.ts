/** A word or phrase that names and prose of this repository must not use. */
interface ForbiddenWord {
  readonly pattern: RegExp;
  /** Better words. */
  readonly instead: string;
  /** Texts in which the pattern is allowed. */
  readonly except?: RegExp;
}

export interface Match {
  readonly file: string;
  /** The number of the line, from 1; 0 for a match in the file's path. */
  readonly line: number;
  readonly text: string;
  readonly instead: string;
}

/** Identifiers, and the names of files and folders. Some are allowed as ordinary words in prose. */
const names: readonly ForbiddenWord[] = [
  { pattern: /\bdoors?\b|Doors?(?![a-z])/g, instead: "listener" },
  { pattern: /\brooms\b|Rooms(?![a-z])/g, instead: "boundaries" },
  { pattern: /\bjudg(?:es?|ed|ing|ement)\b|Judge(?![a-z])/gi, instead: "conformance, validate, check" },
  { pattern: /\bAnswering\b/g, instead: "RateLimitHandler, a noun" },
  { pattern: /\bAllowance\b/g, instead: "FrameBudget" },
  {
    pattern: /(?<![A-Za-z])calm|Calm/g,
    instead: "enhanceYourCalm",
    except: /enhanceYourCalm|EnhanceYourCalm/g,
  },
  { pattern: /\bHalves\b/g, instead: "generations" },
  { pattern: /\bbeginAll\b/g, instead: "prepare" },
  { pattern: /\bLanes?\b|\blanes?\b/g, instead: "NodeConnection, connection" },
  { pattern: /surroundings/gi, instead: "dependencies" },
  { pattern: /\bWay\b(?! [a-z])/g, instead: "SendMode" },
  { pattern: /\bvoices?\b/gi, instead: "reporter" },
  { pattern: /\bhurr(?:y|ies|ied)\b/gi, instead: "attemptAbort, abort" },
  { pattern: /givings/gi, instead: "refunds" },
];

/** Phrases in prose. */
const phrases: readonly ForbiddenWord[] = [
  { pattern: /\b(?:giv(?:es?|ing|en)|gave) (?:\w+ )?back\b/gi, instead: "refund, return" },
  { pattern: /\bwho(?:m)?ever\b/gi, instead: "name the subject" },
  { pattern: /\btold of\b/gi, instead: "notified of, receives" },
  {
    pattern: /\b(?:is|are|was|were) none\b/g,
    instead: "unknown, invalid",
    except: /\bthere (?:is|are|was|were) none/gi,
  },
  { pattern: /\bfor ever\b/gi, instead: "indefinitely" },
  { pattern: /\b(?:who|what) asks?\b/gi, instead: "caller, client" },
  { pattern: /\b(?:stands?|stood|standing)\b/gi, instead: "is, contains, represents, replaces" },
  { pattern: /\b(?:sick|hurts?)\b/gi, instead: "unavailable, affects" },
  { pattern: /\bnobody in particular\b/gi, instead: "none" },
];

/** Openings of comments in code. A question may begin with these words, a description may not. */
const openings: readonly ForbiddenWord[] = [
  {
    pattern: /(?<=(?:\/\*\*|^\s*\*|\/\/) )(?:What|Why|Who|Where|How)\b(?!.*\?)/g,
    instead: "a noun phrase or a sentence with a subject",
  },
];

const everywhere = [...names, ...phrases];
const inCode = [...everywhere, ...openings];

/** Finds forbidden words in a file's path and text. */
export function matchesIn(file: string, text: string): Match[] {
  const forbidden = /\.(?:tsx?|mjs|proto)$/.test(file) ? inCode : everywhere;
  return [file, ...text.split("\n")].flatMap((content, line) =>
    forbidden.flatMap(({ pattern, instead, except }) => {
      const checked = except === undefined ? content : content.replace(except, "");
      return [...checked.matchAll(pattern)].map(([found]) => ({ file, line, text: found, instead }));
    }),
  );
}
