/** The public key that releases are signed for: the 32 bytes of an Ed25519 key, in base64. */
export const RELEASE_KEY = "BSGFPy6tYlesQ38qRpb7SlLMJtzqkCPoytOUP8E3K14=";
