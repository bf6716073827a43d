"""The exceptions that the functions of this package raise.

Where pyca/cryptography is installed, `InvalidTag` and `AlreadyFinalized` are its own classes, so code that catches them continues to work.
"""

try:
    from cryptography.exceptions import AlreadyFinalized, InvalidTag  # pyright: ignore[reportAssignmentType]
except Exception:  # it is not installed, or cannot be loaded

    class InvalidTag(Exception):
        """The message, its associated data, its nonce or its tag is not what the owner of the key sealed."""

    class AlreadyFinalized(Exception):
        """The message has ended, or was refused. The object accepts nothing more."""


class Exhausted(Exception):
    """The nonces of a key, or the blocks that it may seal, are used up, or they are the parent's of a process that was forked. Another key is due."""


class OtherText(Exception):
    """A part of a message was sealed before with a different text. The two ciphertexts would give each other away.

    A job (`fastgcm.jobs`, `fastgcm.s3`) has written nothing of the second text. A caller that holds its ciphertext (`hazmat.Plan`) must destroy it.
    """


__all__ = ["AlreadyFinalized", "Exhausted", "InvalidTag", "OtherText"]
