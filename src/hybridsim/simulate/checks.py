"""What a step refuses before it begins."""

from ..contact import Contact
from ..model.checks import POSITIVE, check_kind
from ..spatial import Scalar


def check_contact(contact: Contact | None, dt: Scalar | None = None) -> None:
    """Not what is no contact model, nor a time step by which contact, which divides by it, would give NaN."""
    if contact is None:
        return
    check_kind("contact", contact, Contact, "hs.Impulses(), hs.Springs() or None")
    if dt is not None:
        POSITIVE.check("dt", dt)
